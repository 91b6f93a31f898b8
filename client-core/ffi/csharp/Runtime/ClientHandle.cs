using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;

namespace Ambit
{
    /// <summary>
    /// Owns a client of the library, and closes it also if the program forgets to: when it is
    /// collected, and when its domain is unloaded (an editor that reloads scripts).
    ///
    /// The number stands beside the handle of the base: pointers have 4 bytes on some platforms,
    /// handles of the library always 8.
    /// </summary>
    internal sealed class ClientHandle : SafeHandle
    {
        private readonly List<GCHandle> steerings = new List<GCHandle>();

        /// <summary>0 once it is closed, which the library knows as no client.</summary>
        internal ulong Number { get; private set; }

        internal ClientHandle(ulong number) : base(IntPtr.Zero, true)
        {
            Number = number;
            SetHandle(new IntPtr(1));
        }

        public override bool IsInvalid
        {
            get { return Number == 0; }
        }

        /// <summary>Functions that steer, to be released after the client is closed.</summary>
        internal void Keep(GCHandle steering)
        {
            steerings.Add(steering);
        }

        /// <summary>Closes it. If another thread is calling the client, it stays open.</summary>
        internal Status CloseWithin(uint waitMs)
        {
            uint status = Native.ambit_close(Number, waitMs);
            if ((Status)status != Status.Busy)
            {
                Forget();
                SetHandleAsInvalid();
                GC.SuppressFinalize(this);
            }
            return (Status)status;
        }

        /// <summary>Nothing refers to the client any more: nothing is waited for.</summary>
        protected override bool ReleaseHandle()
        {
            uint status = Native.ambit_close(Number, 0);
            Forget();
            return status == (uint)Status.Ok;
        }

        private void Forget()
        {
            Number = 0;
            foreach (GCHandle steering in steerings)
            {
                steering.Free();
            }
            steerings.Clear();
        }
    }
}
