using System;
using System.Text;

namespace Ambit
{
    /// <summary>The log of the library. Without <see cref="Start"/> nothing is logged.</summary>
    public static unsafe class AmbitLog
    {
        /// <summary>Longer lines are cut.</summary>
        private const int MaxLine = 4096;

        /// <summary>
        /// Logs from now on, for all clients of the process: 1 errors, 2 warnings, 3 what happens,
        /// 4 details, 5 everything. `Failed` if it was started before: the first level stays, also
        /// while an editor reloads scripts.
        /// </summary>
        public static Status Start(uint level)
        {
            return AmbitException.Check(Native.ambit_log(level));
        }

        /// <summary>
        /// Takes the oldest line; false if there is none. `dropped` is how many lines before it
        /// were dropped.
        /// </summary>
        public static bool Next(out string line, out ulong dropped)
        {
            byte* bytes = stackalloc byte[MaxLine];
            ulong length = 0;
            ulong lost = 0;
            uint status = Native.ambit_next_log(bytes, MaxLine, &length, &lost);
            bool isLine = AmbitException.Check(status) == Status.Ok;
            int copied = (int)Math.Min(length, (ulong)MaxLine);
            line = isLine ? Encoding.UTF8.GetString(bytes, copied) : null;
            dropped = lost;
            return isLine;
        }
    }
}
