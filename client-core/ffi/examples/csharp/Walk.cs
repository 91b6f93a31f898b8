// Joins a game, walks about and prints what is seen:
//
//     mcs -langversion:7.2 -unsafe -out:walk.exe csharp/Runtime/*.cs examples/csharp/Walk.cs
//     LD_LIBRARY_PATH=PATH mono walk.exe 127.0.0.1:7777 field 10
//
// Without a room number it creates a room of the game and starts it; with one it joins that room.
// With AMBIT_PRINT=json it prints one JSON object a second; AMBIT_IMPAIR=loss=5 makes the line bad.

using System;
using System.Globalization;
using System.Text;
using System.Threading;
using Ambit;

internal static class Walk
{
    private static readonly float[][] Ways =
    {
        new float[] { 6, 0 }, new float[] { 0, 6 }, new float[] { -6, 0 }, new float[] { 0, -6 },
    };

    private static int Main(string[] words)
    {
        if (words.Length < 3)
        {
            Console.Error.WriteLine("usage: Walk HOST:PORT GAME SECONDS [ROOM]");
            return 2;
        }
        Client client;
        string impair = Environment.GetEnvironmentVariable("AMBIT_IMPAIR");
        ClientOptions options = new ClientOptions { Server = words[0], Impair = impair };
        if (Client.TryStart(options, out client) != Status.Ok)
        {
            Console.Error.WriteLine("start: " + Client.LastError);
            return 1;
        }
        using (client)
        {
            ulong room = words.Length > 3 ? ulong.Parse(words[3], CultureInfo.InvariantCulture) : 0;
            int frames = 60 * int.Parse(words[2], CultureInfo.InvariantCulture);
            bool isJson = Environment.GetEnvironmentVariable("AMBIT_PRINT") == "json";
            for (int number = 0; number < frames; number++)
            {
                if (!HandleEvents(client, words[1], room))
                {
                    return 1;
                }
                Frame frame;
                client.NextFrame(out frame);
                if (number % 60 == 0 && frame.HasGame)
                {
                    Console.WriteLine(isJson ? ToJson(frame) : ToLines(frame));
                    WalkOn(client, frame, number / 60);
                }
                Thread.Sleep(16);
            }
        }
        return 0;
    }

    /// <summary>Handles what has happened; false when it is over.</summary>
    private static bool HandleEvents(Client client, string game, ulong room)
    {
        ClientEvent happened;
        while (client.NextEvent(out happened))
        {
            switch (happened.Name)
            {
                case "welcome":
                    PlayerInfo player;
                    client.Player(out player);
                    // It comes again after a break, perhaps in the room as before.
                    if (player.Room == 0)
                    {
                        Check(room != 0
                            ? client.JoinRoom(room)
                            : client.CreateRoom(new NewRoom { Name = "from C#", Game = game }));
                    }
                    break;
                case "created":
                    Check(client.StartRoom());
                    break;
                case "error":
                    Console.Error.WriteLine(happened.Json);
                    break;
                case "closed":
                    Console.Error.WriteLine(happened.Json);
                    return false;
            }
        }
        return true;
    }

    /// <summary>
    /// Walks on from where the avatar is, in another direction with each call. In a game of ships
    /// it flies on, in a curve with each second call.
    /// </summary>
    private static void WalkOn(Client client, Frame frame, int step)
    {
        uint on;
        uint left;
        if (client.Find(Item.Control, "accelerate", out on) == Status.Ok
            && client.Find(Item.Control, "turn-left", out left) == Status.Ok)
        {
            client.Hold(1U << (int)on | (uint)(step % 2) << (int)left);
        }
        uint move;
        if (frame.Avatar < 0 || client.Find(Item.Command, "move", out move) != Status.Ok)
        {
            return;
        }
        Float3 at = frame.Objects[frame.Avatar].Position;
        float[] way = Ways[step % Ways.Length];
        // The map may end there: the next way leads back.
        client.Send(move, CommandField.Position(at.X + way[0], at.Y + way[1]));
    }

    private static void Check(Sent sent)
    {
        if (!sent.IsOk)
        {
            Console.Error.WriteLine(Client.LastError);
        }
    }

    private static string ToLines(Frame frame)
    {
        CultureInfo plain = CultureInfo.InvariantCulture;
        StringBuilder lines = new StringBuilder();
        lines.AppendFormat(plain, "{0:0.0} s: {1} in sight, {2} came, {3} went",
            frame.TimeUs / 1e6, frame.InSight.Length, frame.Came.Length, frame.Went.Length);
        foreach (SeenObject seen in frame.InSight)
        {
            lines.AppendFormat(plain, "\n  #{0} kind {1} at {2:0.00} {3:0.00}{4}",
                seen.Id, seen.Kind, seen.Position.X, seen.Position.Y, seen.IsOwn ? " (own)" : "");
        }
        return lines.ToString();
    }

    private static string ToJson(Frame frame)
    {
        CultureInfo plain = CultureInfo.InvariantCulture;
        StringBuilder json = new StringBuilder();
        json.AppendFormat(plain, "{{\"time_us\":{0},\"own\":", frame.TimeUs);
        if (frame.Avatar < 0)
        {
            json.Append("null");
        }
        else
        {
            SeenObject own = frame.Objects[frame.Avatar];
            json.AppendFormat(plain, "[{0},{1:R},{2:R}]", own.Id, own.Position.X, own.Position.Y);
        }
        json.Append(",\"objects\":[");
        string separator = "";
        foreach (SeenObject seen in frame.InSight)
        {
            json.Append(separator);
            json.AppendFormat(plain, "[{0},{1},{2:R},{3:R}]",
                seen.Id, seen.Kind, seen.Position.X, seen.Position.Y);
            separator = ",";
        }
        return json.Append("]}").ToString();
    }
}
