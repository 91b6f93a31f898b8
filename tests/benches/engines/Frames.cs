// Measures frames, as `frames.c` does. Arguments: HOST:PORT ROOM. For each line that comes in, it
// prints what is in sight, the nanoseconds of one frame, and the bytes that it allocated.

using System;
using System.Diagnostics;
using System.Globalization;
using Ambit;

internal static class Frames
{
    private static int Main(string[] words)
    {
        using (Client client = Client.Start(new ClientOptions { Server = words[0] }))
        {
            client.JoinRoom(ulong.Parse(words[1], CultureInfo.InvariantCulture));
            while (Console.ReadLine() != null)
            {
                ClientEvent happened;
                while (client.NextEvent(out happened))
                {
                }
                Frame frame;
                long allocated = GC.GetAllocatedBytesForCurrentThread();
                long before = Stopwatch.GetTimestamp();
                client.NextFrame(out frame);
                long after = Stopwatch.GetTimestamp();
                allocated = GC.GetAllocatedBytesForCurrentThread() - allocated;
                double nanoseconds = (after - before) * 1e9 / Stopwatch.Frequency;
                int inSight = frame.HasGame ? frame.InSight.Length : 0;
                Console.WriteLine("{0} {1:0} {2}", inSight, nanoseconds, allocated);
            }
        }
        return 0;
    }
}
