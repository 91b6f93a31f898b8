// The structures that both sides read, as the header `ambit_client.h` has them.
//
// All are blittable and sequential: with the library's explicit padding that is the layout of C on
// each platform, also where pointers have 4 bytes. `Layouts` compares them with the library's; it
// needs the addresses of fields, so these are not `readonly`. Spans give them out as read-only.

using System.Runtime.InteropServices;

// Some fields are set by the library alone.
#pragma warning disable 0649

namespace Ambit
{
    /// <summary>Three numbers: x to the east, y to the north, z up.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct Float3
    {
        public float X;
        public float Y;
        public float Z;

        public Float3(float x, float y, float z)
        {
            X = x;
            Y = y;
            Z = z;
        }
    }

    /// <summary>A unit quaternion.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct Float4
    {
        public float X;
        public float Y;
        public float Z;
        public float W;
    }

    /// <summary>
    /// An object of a frame. Of a room-wide one, transform, velocities and age mean nothing.
    /// </summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct SeenObject
    {
        /// <summary>In metres: x to the east, y to the north, z up.</summary>
        public Float3 Position;
        /// <summary>A unit quaternion, about the same axes.</summary>
        public Float4 Rotation;
        /// <summary>In metres a second; zero if the game does not send it.</summary>
        public Float3 Velocity;
        /// <summary>In radians a second; zero if the game does not send it.</summary>
        public Float3 AngularVelocity;
        /// <summary>Age of the newest data about it, in milliseconds; NaN if unknown.</summary>
        public float AgeMs;
        /// <summary>The client's number of it, never reused.</summary>
        public uint Id;
        /// <summary>The index of its kind in the schema: see <see cref="Client.Find"/>.</summary>
        public uint Kind;
        internal uint Flags;
        internal uint FirstValue;

        /// <summary>The player's avatar, or a row of the player.</summary>
        public bool IsOwn
        {
            get { return (Flags & 1) != 0; }
        }

        /// <summary>Whether it moves.</summary>
        public bool Moves
        {
            get { return (Flags & 2) != 0; }
        }
    }

    /// <summary>
    /// The value of a component: that of a gauge, 0 or 1 of a flag, a number (exact to 2^53), or
    /// the number of a text (<see cref="Frame.Text"/>). Counts are a text, too: JSON pairs of an
    /// index and a count. So are rows, each a JSON list of its values (of a choice the index, of a
    /// position x, y and z), and bytes: hexadecimal digits. NaN if it is not known, or if it is the
    /// object's place.
    /// </summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct ComponentValue
    {
        public double Value;
        /// <summary>How fast a gauge changes, a second; otherwise NaN.</summary>
        public double Rate;
        /// <summary>The maximum of a gauge; otherwise NaN.</summary>
        public double Max;
    }

    /// <summary>Counters since the start, and the line now. NaN if it is not known.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct Statistics
    {
        internal uint Size;
        internal uint Reserved;
        /// <summary>The estimated room time now, in microseconds; -1 without a game.</summary>
        public long RoomTimeUs;
        /// <summary>Round trip to the game's host.</summary>
        public double RoundTripMs;
        /// <summary>How unevenly datagrams arrive.</summary>
        public double JitterMs;
        /// <summary>How far behind room time other objects are shown.</summary>
        public double ShownBehindMs;
        /// <summary>How long nothing new has arrived.</summary>
        public double SilenceMs;
        /// <summary>Share of the host's datagrams that did not arrive.</summary>
        public double Loss;
        /// <summary>Share of updates and events that came after their time.</summary>
        public double LateShare;
        public ulong DatagramsDown;
        public ulong DatagramsUp;
        /// <summary>UDP payload received, of all sockets.</summary>
        public ulong BytesDown;
        /// <summary>UDP payload sent, of all sockets.</summary>
        public ulong BytesUp;
        public ulong Commands;
        public ulong Confirmed;
        public ulong Refused;
    }

    /// <summary>An obstacle of the static map.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public readonly struct Obstacle
    {
        public readonly Float3 Centre;
        /// <summary>Half of its extents, in metres.</summary>
        public readonly Float3 Half;
        /// <summary>Its turn, in radians from x towards y.</summary>
        public readonly float Yaw;
        private readonly float round;
        private readonly float look;

        public bool IsRound
        {
            get { return round != 0; }
        }

        /// <summary>The index of its look in the schema, or -1.</summary>
        public int Look
        {
            get { return unchecked((int)look); }
        }
    }

    /// <summary>Where an avatar is and how it moves, for functions that steer.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct Movement
    {
        public Float3 Position;
        /// <summary>The heading in radians, from x towards y.</summary>
        public float Yaw;
        /// <summary>In metres a second.</summary>
        public Float3 Velocity;
    }

    /// <summary>
    /// What is held while an avatar is steered. Axes are in steps: a lever has 127 from 0 to 1, an
    /// angle 256 a turn.
    /// </summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct HeldControls
    {
        /// <summary>One bit for each control of the game, in their order.</summary>
        public uint Keys;
        public sbyte Axis0;
        public sbyte Axis1;
        public sbyte Axis2;
        public sbyte Axis3;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal unsafe struct NativeText
    {
        internal byte* Text;
        internal ulong Length;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal unsafe struct NativeOptions
    {
        internal uint Size;
        internal uint InterfaceVersion;
        internal uint Flags;
        internal uint Reserved;
        internal NativeText Server;
        internal NativeText Settings;
        internal byte* Certificate;
        internal NativeText KnownHosts;
        internal byte* ResumeToken;
        internal ulong ResumeTokenLength;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal unsafe struct NativeFrame
    {
        internal uint Size;
        internal uint InSight;
        internal long TimeUs;
        internal SeenObject* Objects;
        internal ComponentValue* Values;
        internal uint* Came;
        internal uint* Went;
        internal uint ObjectCount;
        internal uint ValueCount;
        internal uint CameCount;
        internal uint WentCount;
        internal uint Avatar;
        internal uint Reserved;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct NativeEvent
    {
        internal uint Size;
        internal uint Of;
        internal ulong Request;
        internal NativeText Name;
        internal NativeText Json;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal unsafe struct NativePlayer
    {
        internal uint Size;
        internal uint State;
        internal ulong Player;
        internal ulong Room;
        internal NativeText Name;
        internal byte* ResumeToken;
        internal ulong ResumeTokenLength;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct NativeError
    {
        internal uint Size;
        internal uint Status;
        internal NativeText Code;
        internal NativeText Message;
    }

    [StructLayout(LayoutKind.Sequential)]
    internal struct NativeField
    {
        internal uint Kind;
        internal uint Reserved;
        internal long Number;
        internal float X;
        internal float Y;
        internal float Z;
        internal uint ReservedToo;
        internal NativeText Text;
    }
}
