// Functions of the game that predict the player's own avatar.

using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;

namespace Ambit
{
    /// <summary>
    /// Moves an avatar on by `seconds`, as the host does. It must be pure: the same input gives the
    /// same output. It must not call its client.
    /// </summary>
    public delegate void SteerFunction(
        ref Movement movement, HeldControls held, SteerTerrain terrain, float seconds);

    /// <summary>The map, during a call of a function that steers.</summary>
    public readonly unsafe ref struct SteerTerrain
    {
        private readonly void* terrain;

        internal SteerTerrain(void* terrain)
        {
            this.terrain = terrain;
        }

        /// <summary>
        /// How far a body of this radius gets from `from` towards `to` before it meets an obstacle
        /// or the border.
        /// </summary>
        public Float3 Stop(Float3 from, Float3 to, float radius)
        {
            Float3 reached = from;
            AmbitException.Check(Native.ambit_terrain_stop(
                terrain, (float*)&from, (float*)&to, radius, (float*)&reached));
            return reached;
        }

        /// <summary>The extent of the map, in metres.</summary>
        public void Size(out float width, out float height)
        {
            float* size = stackalloc float[2];
            AmbitException.Check(Native.ambit_terrain_size(terrain, size));
            width = size[0];
            height = size[1];
        }
    }

    public sealed unsafe partial class Client
    {
        /// <summary>They live as long as the client: the library has weak handles.</summary>
        private readonly List<Steering> steerings = new List<Steering>();

        /// <summary>
        /// For <see cref="ClientOptions.CallerDriven"/>: predicts the player's own avatar, of this
        /// kind in games of this name, so that a key moves it in the next frame. The function runs
        /// in <see cref="NextFrame"/>, <see cref="Poll"/> and <see cref="NextEvent"/>; what it
        /// throws comes out of them.
        /// </summary>
        public Status Steer(string game, string kind, SteerFunction function)
        {
            if (function == null)
            {
                throw new ArgumentNullException("function");
            }
            Steering steering = new Steering(function);
            byte[] gameBytes = Utf8.Bytes(game);
            byte[] kindBytes = Utf8.Bytes(kind);
            // Weak, so that a function that refers to its client does not keep it for ever.
            GCHandle weak = GCHandle.Alloc(steering, GCHandleType.Weak);
            Status status = Status.Failed;
            try
            {
                fixed (byte* gameAt = gameBytes, kindAt = kindBytes)
                {
                    status = Done(Native.ambit_steer(
                        handle.Number, gameAt, (ulong)gameBytes.Length, kindAt,
                        (ulong)kindBytes.Length, (void*)Steering.Entry,
                        (void*)GCHandle.ToIntPtr(weak)));
                }
            }
            finally
            {
                if (status != Status.Ok)
                {
                    weak.Free();
                }
            }
            if (status == Status.Ok)
            {
                steerings.Add(steering);
                handle.Keep(weak);
            }
            return status;
        }

        private void RethrowFromSteering()
        {
            for (int index = 0; index < steerings.Count; index++)
            {
                Exception thrown = steerings[index].Thrown;
                if (thrown != null)
                {
                    steerings[index].Thrown = null;
                    throw new InvalidOperationException(
                        "a function that steers has thrown", thrown);
                }
            }
        }
    }

    /// <summary>Stands on methods that native code calls; IL2CPP knows it by its name.</summary>
    [AttributeUsage(AttributeTargets.Method)]
    internal sealed class MonoPInvokeCallbackAttribute : Attribute
    {
        internal MonoPInvokeCallbackAttribute(Type type)
        {
        }
    }

    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    internal unsafe delegate void NativeSteer(
        void* user, Movement* movement, HeldControls* held, void* terrain, float seconds);

    internal sealed unsafe class Steering
    {
        /// <summary>
        /// The only function that native code calls. It is kept, so that it is not collected.
        /// </summary>
        private static readonly NativeSteer Kept = Run;
        internal static readonly IntPtr Entry = Marshal.GetFunctionPointerForDelegate(Kept);

        private readonly SteerFunction function;
        /// <summary>An exception must not pass through native code.</summary>
        internal Exception Thrown;

        internal Steering(SteerFunction function)
        {
            this.function = function;
        }

        [MonoPInvokeCallback(typeof(NativeSteer))]
        private static void Run(
            void* user, Movement* movement, HeldControls* held, void* terrain, float seconds)
        {
            Steering steering = GCHandle.FromIntPtr((IntPtr)user).Target as Steering;
            if (steering == null)
            {
                return;
            }
            Movement moved = *movement;
            try
            {
                steering.function(ref moved, *held, new SteerTerrain(terrain), seconds);
                *movement = moved;
            }
            catch (Exception thrown)
            {
                steering.Thrown = thrown;
            }
        }
    }
}
