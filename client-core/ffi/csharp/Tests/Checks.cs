// Checks of the binding, by Mono: `Tests/run` compiles and starts it.
//
//     mono Checks.exe [HOST:PORT]
//
// Without a server those that need one are left out. Exit code: 0 if all hold.

using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;
using Ambit;

internal static unsafe class Checks
{
    /// <summary>No server listens there.</summary>
    private const string Nowhere = "127.0.0.1:1";
    private const int FrameMs = 16;
    private const int Frames = 600;

    private static readonly string KnownHosts =
        Path.Combine(Path.GetTempPath(), "ambit-checks-" + Process.GetCurrentProcess().Id);
    private static string server;
    private static int failed;

    private static int Main(string[] words)
    {
        server = words.Length > 0 ? words[0] : null;
        Run("the structures are those of the library", StructuresAreThoseOfTheLibrary);
        Run("another layout is refused", AnotherLayoutIsRefused);
        Run("native functions need no marshalling", NativeFunctionsNeedNoMarshalling);
        Run("structures are blittable", StructuresAreBlittable);
        Run("one static function is called by native code", OneStaticFunctionIsCalled);
        Run("JSON is escaped", JsonIsEscaped);
        Run("repeated texts are made once", RepeatedTextsAreMadeOnce);
        Run("a hundred clients start and close", AHundredClientsStartAndClose);
        Run("a forgotten client is closed", AForgottenClientIsClosed);
        // What is compiled ahead of time has no second domain.
        if (Environment.GetEnvironmentVariable("AMBIT_ONE_DOMAIN") == null)
        {
            Run("an unloaded domain closes its clients", AnUnloadedDomainClosesItsClients);
        }
        Run("a closed client throws in all calls", AClosedClientThrows);
        Run("a second thread is refused", ASecondThreadIsRefused);
        Run("wrong lengths are refused", WrongLengthsAreRefused);
        Run("the wrong mode is refused", TheWrongModeIsRefused);
        Run("what is no misuse is a result", WhatIsNoMisuseIsAResult);
        Run("frames and events end", FramesEnd);
        Run("a pause without polling is reported once", APauseIsReportedOnce);
        Run("log lines can be read", LogLinesCanBeRead);
        if (server == null)
        {
            Console.WriteLine("no server is given: checks of a game are left out");
        }
        else
        {
            Run("a game is played", AGameIsPlayed);
            Run("frames make no garbage", () => FramesMakeNoGarbage(false));
            Run("frames that the caller drives make no garbage", () => FramesMakeNoGarbage(true));
            Run("texts arrive as they were sent", TextsArrive);
            Run("a function that steers moves the avatar", AFunctionSteers);
            Run("a session is resumed by its token", ASessionIsResumed);
            Run("the cost of a frame", PrintTheCostOfAFrame);
        }
        File.Delete(KnownHosts);
        Console.WriteLine(failed == 0 ? "all hold" : failed + " failed");
        return failed == 0 ? 0 : 1;
    }

    private static void Run(string name, Action check)
    {
        try
        {
            check();
            Console.WriteLine("ok      " + name);
        }
        catch (Exception problem)
        {
            failed++;
            Console.WriteLine("FAILED  " + name + ": " + problem);
        }
    }

    // Layouts, and the rules of IL2CPP.

    private static void StructuresAreThoseOfTheLibrary()
    {
        Layouts.CheckAll();
    }

    private static void AnotherLayoutIsRefused()
    {
        int size = sizeof(NativeText);
        Action[] wrong =
        {
            () => Layouts.IsSame(11, "AmbitText", size + 8, 0, sizeof(byte*)),
            () => Layouts.IsSame(11, "AmbitText", size, 0, 4),
            () => Layouts.IsSame(11, "AmbitText", 8, 0),
            () => Layouts.IsSame(99, "AmbitNothing", 8, 0),
            () => Layouts.Grows(1, "AmbitFrame", sizeof(NativeFrame), 0, 8),
        };
        foreach (Action check in wrong)
        {
            Equal(Thrown(check).Status, Status.OtherVersion);
        }
        // What a later library adds to a structure with a size is no fault.
        Layouts.Grows(1, "AmbitFrame", 8, 0, 4);
    }

    private static IEnumerable<MethodInfo> MethodsOfBinding()
    {
        const BindingFlags All = BindingFlags.Static | BindingFlags.Instance | BindingFlags.Public
            | BindingFlags.NonPublic | BindingFlags.DeclaredOnly;
        foreach (Type type in typeof(Client).Assembly.GetTypes())
        {
            foreach (MethodInfo method in type.GetMethods(All))
            {
                yield return method;
            }
        }
    }

    private static void NativeFunctionsNeedNoMarshalling()
    {
        int count = 0;
        foreach (MethodInfo method in MethodsOfBinding())
        {
            DllImportAttribute import = method.GetCustomAttribute<DllImportAttribute>();
            if (import == null)
            {
                continue;
            }
            count++;
            Equal(import.CallingConvention, CallingConvention.Cdecl);
            True(!import.SetLastError && !method.DeclaringType.IsGenericType, method.Name);
            NeedsNoMarshalling(method);
        }
        // As many as the header has.
        Equal(count, 26);
    }

    private static void NeedsNoMarshalling(MethodInfo method)
    {
        True(!method.IsGenericMethod, method + " is generic");
        True(method.ReturnType == typeof(void) || IsPlain(method.ReturnType), method + ": result");
        foreach (ParameterInfo parameter in method.GetParameters())
        {
            True(IsPlain(parameter.ParameterType), method + ": " + parameter);
            True(parameter.GetCustomAttribute<MarshalAsAttribute>() == null, parameter.Name);
        }
    }

    /// <summary>A number, or a pointer to something blittable; no struct by value.</summary>
    private static bool IsPlain(Type type)
    {
        if (type.IsPointer)
        {
            Type to = type.GetElementType();
            return to == typeof(void) || IsPlain(to) || IsBlittable(to);
        }
        return type == typeof(byte) || type == typeof(sbyte) || type == typeof(int)
            || type == typeof(uint) || type == typeof(long) || type == typeof(ulong)
            || type == typeof(float) || type == typeof(double);
    }

    private static bool IsBlittable(Type type)
    {
        if (!type.IsValueType || type.IsPrimitive || type.IsEnum || type.IsGenericType)
        {
            return false;
        }
        StructLayoutAttribute layout = type.StructLayoutAttribute;
        if (layout.Value != LayoutKind.Sequential || (layout.Pack != 0 && layout.Pack != 8))
        {
            return false;
        }
        const BindingFlags All =
            BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic;
        FieldInfo[] fields = type.GetFields(All);
        foreach (FieldInfo field in fields)
        {
            if (!IsPlain(field.FieldType) && !IsBlittable(field.FieldType))
            {
                return false;
            }
        }
        // One field by itself is passed otherwise by WebAssembly.
        return fields.Length > 1;
    }

    private static void StructuresAreBlittable()
    {
        Type[] all =
        {
            typeof(NativeText), typeof(NativeOptions), typeof(NativeFrame), typeof(NativeEvent),
            typeof(NativePlayer), typeof(NativeError), typeof(NativeField), typeof(SeenObject),
            typeof(ComponentValue), typeof(Statistics), typeof(Movement), typeof(HeldControls),
            typeof(Obstacle),
        };
        foreach (Type type in all)
        {
            True(IsBlittable(type), type.Name);
        }
        Equal(sizeof(Obstacle), 9 * sizeof(float));
        // The rule finds what breaks it.
        True(!IsBlittable(typeof(CommandField)), "a string is not blittable");
        True(!IsPlain(typeof(Float3)) && !IsPlain(typeof(bool)), "neither is a bool");
    }

    private static void OneStaticFunctionIsCalled()
    {
        List<Type> delegates = new List<Type>();
        foreach (Type type in typeof(Client).Assembly.GetTypes())
        {
            if (type.GetCustomAttribute<UnmanagedFunctionPointerAttribute>() != null)
            {
                delegates.Add(type);
            }
        }
        Equal(delegates.Count, 1);
        Equal(delegates[0], typeof(NativeSteer));
        NeedsNoMarshalling(delegates[0].GetMethod("Invoke"));
        List<MethodInfo> called = new List<MethodInfo>();
        foreach (MethodInfo method in MethodsOfBinding())
        {
            foreach (object attribute in method.GetCustomAttributes(false))
            {
                // IL2CPP looks for the name, in any namespace.
                if (attribute.GetType().Name == "MonoPInvokeCallbackAttribute")
                {
                    called.Add(method);
                }
            }
        }
        Equal(called.Count, 1);
        True(called[0].IsStatic && !called[0].DeclaringType.IsGenericType, called[0].Name);
        NeedsNoMarshalling(called[0]);
    }

    // Texts.

    private static void JsonIsEscaped()
    {
        string json = new Json().Begin().Key("a\"b").Text("\\ \n\u0001 \u00e9 \ud83d\ude00")
            .Key("c").Begin().Key("d").Number(ulong.MaxValue).Key("e").Flag(true).End()
            .Key("f").Text(null).End().ToString();
        Equal(json, "{\"a\\\"b\":\"\\\\ \\u000a\\u0001 \u00e9 \ud83d\ude00\"," +
            "\"c\":{\"d\":18446744073709551615,\"e\":true},\"f\":\"\"}");
        // Half of a pair is no text.
        Equal(System.Text.Encoding.UTF8.GetString(Utf8.Bytes("a\ud83d")), "a\ufffd");
        string settings = new ClientOptions
        {
            Name = "ann", Render = "100ms", Predict = false, InputHz = 60,
            ReconnectFor = TimeSpan.FromSeconds(1.5),
        }.Settings();
        Equal(settings, "{\"name\":\"ann\",\"render\":\"100ms\",\"reconnect_for_ms\":1500," +
            "\"predict\":false,\"input_hz\":60}");
        string signIn = new ClientOptions
        {
            Account = "device", Token = "t",
            Password = new PasswordSignIn { Login = "ann#1", Password = "\"", IsNew = true },
        }.Settings();
        Equal(signIn, "{\"account\":\"device\",\"password\":{\"login\":\"ann#1\"," +
            "\"password\":\"\\\"\",\"is_new\":true},\"token\":\"t\"}");
    }

    private static void RepeatedTextsAreMadeOnce()
    {
        TextCache cache = new TextCache("enter");
        Func<string, string> read = text =>
        {
            byte[] bytes = Utf8.Bytes(text);
            fixed (byte* at = bytes)
            {
                NativeText native;
                native.Text = at;
                native.Length = (ulong)bytes.Length;
                return cache.Read(native);
            }
        };
        string first = read("enter");
        True(ReferenceEquals(first, "enter"), "the expected one");
        True(ReferenceEquals(first, read("enter")), "the same");
        Equal(read("event"), "event");
        Equal(read(""), "");
        for (int number = 0; number < 1000; number++)
        {
            Equal(read("name " + number), "name " + number);
        }
    }

    // The life of clients.

    private static ClientOptions To(string address, bool callerDriven = false)
    {
        return new ClientOptions
        {
            Server = address, CallerDriven = callerDriven, KnownHosts = KnownHosts, Name = "c#",
        };
    }

    /// <summary>Each client that the library drives has one.</summary>
    private static int LibraryThreads()
    {
        int count = 0;
        foreach (string thread in Directory.GetDirectories("/proc/self/task"))
        {
            try
            {
                string name = File.ReadAllText(Path.Combine(thread, "comm"));
                count += name.Trim() == "ambit-client" ? 1 : 0;
            }
            catch (IOException)
            {
                // It has ended meanwhile.
            }
        }
        return count;
    }

    /// <summary>A thread gets its name a moment after it has begun.</summary>
    private static void WaitForThreads(int expected, Action meanwhile = null)
    {
        Stopwatch time = Stopwatch.StartNew();
        while (LibraryThreads() != expected)
        {
            True(time.ElapsedMilliseconds < 10000, LibraryThreads() + " threads");
            if (meanwhile != null)
            {
                meanwhile();
            }
            Thread.Sleep(5);
        }
    }

    private static void AHundredClientsStartAndClose()
    {
        foreach (bool callerDriven in new[] { false, true })
        {
            for (int round = 0; round < 100; round++)
            {
                Client client = Client.Start(To(server ?? Nowhere, callerDriven));
                Frame frame;
                True(client.NextFrame(out frame), "a frame");
                True(!frame.HasGame && frame.Objects.Length == 0 && frame.Avatar == -1, "empty");
                client.Close(0);
                client.Dispose();
            }
        }
        Equal(LibraryThreads(), 0);
    }

    private static void AForgottenClientIsClosed()
    {
        Thread forgets = new Thread(() =>
        {
            Client client = Client.Start(To(Nowhere));
            WaitForThreads(1);
            GC.KeepAlive(client);
        });
        forgets.Start();
        forgets.Join();
        WaitForThreads(0, () =>
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        });
    }

    /// <summary>As an editor does that reloads scripts, with the library still loaded.</summary>
    private static void AnUnloadedDomainClosesItsClients()
    {
        for (int round = 0; round < 3; round++)
        {
            AppDomain other = AppDomain.CreateDomain("scripts");
            other.DoCallBack(StartInDomain);
            WaitForThreads(2);
            AppDomain.Unload(other);
            Equal(LibraryThreads(), 0);
        }
    }

    private static readonly List<Client> KeptInDomain = new List<Client>();

    private static void StartInDomain()
    {
        KeptInDomain.Add(Client.Start(To(Nowhere)));
        KeptInDomain.Add(Client.Start(To(Nowhere)));
        KeptInDomain.Add(Client.Start(To(Nowhere, true)));
        KeptInDomain[2].Steer("shooter", "ship", Stays);
    }

    // Misuse.

    private static void AClosedClientThrows()
    {
        Client client = Client.Start(To(Nowhere, true));
        client.Dispose();
        Action[] calls =
        {
            () => client.Poll(),
            () => { ulong now; client.Now(out now); },
            () => { ClientEvent happened; client.NextEvent(out happened); },
            () => { Frame frame; client.NextFrame(out frame); },
            () => client.Send(0),
            () => client.Send(0, CommandField.Number(1)),
            () => client.Send("move", "[]"),
            () => client.Hold(1),
            () => client.SetAxis(0, 1),
            () => { uint index; client.Find(Item.Kind, "a", out index); },
            () => { string json; client.Describe(Description.Counters, out json); },
            () => { ReadOnlySpan<Obstacle> map; client.Map(out map); },
            () => { PlayerInfo player; client.Player(out player); },
            () => client.ResumeToken(),
            () => { Statistics statistics; client.Statistics(out statistics); },
            () => client.Steer("a", "b", Stays),
            () => client.ListRooms(),
            () => client.TextOf(1),
        };
        for (int index = 0; index < calls.Length; index++)
        {
            AmbitException thrown = Thrown(calls[index]);
            True(thrown.Status == Status.NoClient, index + ": " + thrown);
            Equal(thrown.Code, "no_client");
        }
    }

    private static void Stays(
        ref Movement movement, HeldControls held, SteerTerrain terrain, float seconds)
    {
    }

    private static void ASecondThreadIsRefused()
    {
        using (Client client = Client.Start(To(Nowhere, true)))
        {
            bool ends = false;
            AmbitException found = null;
            AmbitException atClose = null;
            Thread second = new Thread(() =>
            {
                while (!Volatile.Read(ref ends) && (found == null || atClose == null))
                {
                    found = found ?? TryThrown(() => client.Hold(0));
                    atClose = atClose ?? TryThrown(() => { if (found != null) client.Close(0); });
                }
                Volatile.Write(ref ends, true);
            });
            second.Start();
            // It holds the client while it waits; then the second thread cannot close it.
            Stopwatch time = Stopwatch.StartNew();
            while (!Volatile.Read(ref ends) && time.ElapsedMilliseconds < 10000)
            {
                TryThrown(() => client.Poll(1000));
            }
            Volatile.Write(ref ends, true);
            second.Join();
            True(found != null, "it was never refused");
            Equal(found.Status, Status.Busy);
            Equal(found.Code, "busy");
        }
    }

    private static void WrongLengthsAreRefused()
    {
        foreach (int length in new[] { 0, 31, 33 })
        {
            ClientOptions options = To(Nowhere);
            options.Certificate = new byte[length];
            Equal(Thrown(() => Client.Start(options)).Status, Status.BadLength);
        }
        ClientOptions pinned = To(Nowhere);
        pinned.Certificate = new byte[32];
        Client.Start(pinned).Dispose();
        using (Client client = Client.Start(To(Nowhere)))
        {
            string tooLong = new string('a', (1 << 20) + 1);
            Equal(Thrown(() => client.SayInLobby(tooLong)).Status, Status.BadLength);
            Equal(Thrown(() => client.Send(tooLong, "[]")).Status, Status.BadLength);
            CommandField[] many = new CommandField[65];
            Equal(Thrown(() => client.Send(0, many)).Status, Status.BadLength);
            CommandField text = CommandField.Text(tooLong);
            Equal(Thrown(() => client.Send(0, text)).Status, Status.BadLength);
            // Long, and allowed: the room for short texts is not enough.
            CommandField[] texts = new CommandField[64];
            for (int index = 0; index < texts.Length; index++)
            {
                texts[index] = CommandField.Text(new string('\u00e9', 1000));
            }
            Equal(client.Send(0, texts).Status, Status.NotPlaying);
        }
    }

    private static void TheWrongModeIsRefused()
    {
        using (Client client = Client.Start(To(Nowhere)))
        {
            Equal(Thrown(() => client.Steer("a", "b", Stays)).Status, Status.WrongMode);
        }
    }

    private static void WhatIsNoMisuseIsAResult()
    {
        Client none;
        Equal(Client.TryStart(new ClientOptions(), out none), Status.BadOption);
        True(none == null && Client.LastError.Message.Contains("HOST:PORT"), "why");
        ClientOptions options = To(Nowhere);
        options.Render = "never";
        Equal(Client.TryStart(options, out none), Status.BadOption);
        Equal(Thrown(() => Client.Start(options)).Status, Status.BadOption);
        using (Client client = Client.Start(To(Nowhere)))
        {
            Equal(client.Send("move", "[]").Status, Status.NotPlaying);
            Equal(client.SetAxis(0, 1), Status.NotPlaying);
            Equal(client.Request("\"fly\"").Status, Status.BadOption);
            True(Client.LastError.Message.Contains("no request is called 'fly'"), "why");
            Equal(Client.LastError.Code, "bad_option");
            uint index;
            Equal(client.Find(Item.Kind, "a", out index), Status.Nothing);
            Equal(index, uint.MaxValue);
            Equal(Client.LastError.Status, Status.Nothing);
            True(Client.LastError.Message.Contains("no item of this name"), "why");
            string name;
            Equal(client.Name(Item.Kind, 0, out name), Status.Nothing);
            True(name == null, "a name without a game");
            string json;
            Equal(client.Describe(Description.Schema, out json), Status.Nothing);
            Equal(client.Describe(Description.Counters, out json), Status.Ok);
            True(json.StartsWith("{\""), json);
            ReadOnlySpan<Obstacle> map;
            Equal(client.Map(out map), Status.Nothing);
            Equal(client.ResumeToken().Length, 0);
            Statistics statistics;
            Equal(client.Statistics(out statistics), Status.Ok);
            True(statistics.RoomTimeUs == -1 && double.IsNaN(statistics.RoundTripMs), "unknown");
            PlayerInfo player;
            Equal(client.Player(out player), Status.Ok);
            True(!player.IsPlaying && player.Room == 0, "in no room");
        }
    }

    private static void FramesEnd()
    {
        Client client = Client.Start(To(Nowhere));
        Frame first;
        Frame second;
        client.NextFrame(out first);
        Equal(first.Came.Length, 0);
        client.NextFrame(out second);
        True(HasEnded(first) && !HasEnded(second), "with the next one");
        ClientEvent happened;
        while (!client.NextEvent(out happened))
        {
            Thread.Sleep(1);
        }
        Equal(happened.Name, "connecting");
        True(happened.Json.StartsWith("{") && happened.JsonUtf8[0] == (byte)'{', happened.Json);
        client.Dispose();
        True(HasEnded(second) && HasEnded(happened), "with the client");
        True(!HasEnded(default(Frame)), "an empty one has nothing to end");
    }

    private static bool HasEnded(Frame frame)
    {
        try
        {
            return frame.Objects.Length < 0;
        }
        catch (InvalidOperationException)
        {
            return true;
        }
    }

    private static bool HasEnded(ClientEvent happened)
    {
        try
        {
            return happened.JsonUtf8.Length < 0;
        }
        catch (InvalidOperationException)
        {
            return true;
        }
    }

    private static void APauseIsReportedOnce()
    {
        using (Client client = Client.Start(To(Nowhere, true)))
        {
            Thread.Sleep(1200);
            Frame frame;
            True(!client.NextFrame(out frame), "it says so");
            True(!frame.HasGame && frame.Objects.Length == 0, "empty");
            Equal(Client.LastError.Status, Status.NotPolled);
            True(client.NextFrame(out frame), "once");
        }
    }

    private static void LogLinesCanBeRead()
    {
        Equal(AmbitLog.Start(9), Status.BadOption);
        Equal(AmbitLog.Start(4), Status.Ok);
        // A second one, as after a reload of scripts, changes nothing.
        Equal(AmbitLog.Start(4), Status.Ok);
        Equal(AmbitLog.Start(5), Status.Failed);
        string line;
        ulong dropped;
        using (Client client = Client.Start(To(Nowhere)))
        {
            Stopwatch time = Stopwatch.StartNew();
            while (!AmbitLog.Next(out line, out dropped))
            {
                True(time.ElapsedMilliseconds < 10000, "no line comes");
                Thread.Sleep(5);
            }
            True(line.Contains("DEBUG") && dropped == 0, line);
        }
        while (AmbitLog.Next(out line, out dropped))
        {
            True(line.Length > 0, "no empty lines");
        }
        True(line == null, "and an end");
    }

    // Games.

    /// <summary>A client in a game of its own.</summary>
    private static Client Play(
        string game, Dictionary<string, string> parameters, bool callerDriven)
    {
        Client client = Client.Start(To(server, callerDriven));
        Enter(client, game, parameters);
        return client;
    }

    private static void Enter(Client client, string game, Dictionary<string, string> parameters)
    {
        Wait(client, "welcome");
        NewRoom room = new NewRoom
        {
            Name = "checks \"of\" C#", Game = game, Parameters = parameters,
        };
        ulong number = Sent(client.CreateRoom(room));
        True(Wait(client, "created") == number, "the answer has the request's number");
        Sent(client.StartRoom());
        Wait(client, "started");
        Stopwatch time = Stopwatch.StartNew();
        Frame frame;
        while (!(client.NextFrame(out frame) && frame.Avatar >= 0))
        {
            True(time.ElapsedMilliseconds < 20000, "no avatar comes");
            Thread.Sleep(FrameMs);
        }
        uint own = frame.Objects[frame.Avatar].Id;
        bool came = false;
        foreach (uint id in frame.Came)
        {
            came |= id == own;
        }
        True(came && frame.Went.Length == 0, "it came into this frame");
        True(client.NextFrame(out frame), "a frame");
        foreach (uint id in frame.Came)
        {
            True(id != own, "and not into the next one");
        }
    }

    /// <summary>Waits for an event; returns the number of the request that it answers.</summary>
    private static ulong Wait(Client client, string name, Func<string, bool> isIt = null)
    {
        Stopwatch time = Stopwatch.StartNew();
        while (time.ElapsedMilliseconds < 20000)
        {
            ClientEvent happened;
            while (client.NextEvent(out happened))
            {
                if (happened.Name == name && (isIt == null || isIt(happened.Json)))
                {
                    return happened.Request;
                }
                True(happened.Name != "error" && happened.Name != "closed", happened.Name);
            }
            Thread.Sleep(5);
        }
        throw new Exception("no " + name + " comes");
    }

    private static ulong Sent(Sent sent)
    {
        True(sent.IsOk, Client.LastError.ToString());
        return sent.Number;
    }

    private static void AGameIsPlayed()
    {
        using (Client client = Play("field", null, false))
        {
            uint move;
            uint kind;
            uint name;
            Equal(client.Find(Item.Command, "move", out move), Status.Ok);
            Equal(client.Find(Item.Kind, "avatar", out kind), Status.Ok);
            Equal(client.Find(Item.Component, kind, "name", out name), Status.Ok);
            uint none;
            Equal(client.Find(Item.Command, "fly", out none), Status.Nothing);
            string named;
            Equal(client.Name(Item.Command, move, out named), Status.Ok);
            Equal(named, "move");
            Equal(client.Name(Item.Component, kind, name, out named), Status.Ok);
            Equal(named, "name");
            Equal(client.Name(Item.Command, 999, out named), Status.Nothing);
            Frame frame;
            client.NextFrame(out frame);
            SeenObject own = frame.Objects[frame.Avatar];
            True(own.IsOwn && own.Kind == kind, "the own avatar");
            Equal(frame.IndexOf(own.Id), frame.Avatar);
            Equal(frame.IndexOf(uint.MaxValue), -1);
            Equal(frame.Objects.Length, frame.InSight.Length + frame.RoomWide.Length);
            True(frame.RoomWide.Length > 0, "field has room-wide objects");
            for (int index = 0; index < frame.Objects.Length; index++)
            {
                Equal(frame.IndexOf(frame.Objects[index].Id), index);
            }
            PlayerInfo player;
            client.Player(out player);
            // The server adds a number if the name is taken.
            True(player.Name.StartsWith("c#"), player.Name);
            Equal(frame.Text(frame.Avatar, name), player.Name);
            True(
                ReferenceEquals(
                    frame.Text(frame.Avatar, name), frame.Text(frame.Avatar, name)),
                "a text is made once");
            int components = frame.ComponentCount(frame.Avatar);
            True(components > (int)name, components + " components");
            // By hand: a lambda cannot have a frame.
            bool isRefused = false;
            try
            {
                isRefused = frame.Value(frame.Avatar, (uint)components).Value > 1e300;
            }
            catch (ArgumentOutOfRangeException)
            {
                isRefused = true;
            }
            True(isRefused, "a component too many");

            // It walks, and the event says so.
            float goal = own.Position.X + (own.Position.X > 40 ? -3 : 3);
            ulong number = Sent(client.Send(move, CommandField.Position(goal, own.Position.Y)));
            string marker = "\"command\":" + number;
            Wait(client, "confirmed", json => json.Contains(marker));
            Thread.Sleep(1500);
            client.NextFrame(out frame);
            Float3 now = frame.Objects[frame.Avatar].Position;
            True(Math.Abs(now.X - own.Position.X) > 0.5, own.Position.X + " to " + now.X);
            client.Player(out player);
            True(player.IsConnected && player.IsPlaying && player.Room != 0, "in a room");
            ReadOnlySpan<Obstacle> map;
            if (client.Map(out map) == Status.Ok)
            {
                True(map.Length > 0 && map[0].Half.X > 0, "obstacles have extents");
            }
            string json2;
            Equal(client.Describe(Description.Schema, out json2), Status.Ok);
            True(json2.Contains("\"move\""), json2);
            // By name, and wrong.
            Sent(client.Send("move", "[[50, 50]]"));
            Equal(client.Send("fly", "[]").Status, Status.BadOption);
            Equal(client.Send(move, CommandField.Text("there")).Status, Status.BadOption);
            Equal(client.Send(999).Status, Status.BadOption);

            // All that was in sight goes at the end, named once.
            client.NextFrame(out frame);
            int count = frame.Objects.Length;
            Sent(client.LeaveRoom());
            int gone = 0;
            Stopwatch time = Stopwatch.StartNew();
            do
            {
                True(time.ElapsedMilliseconds < 10000, "the game ends");
                Thread.Sleep(FrameMs);
                client.NextFrame(out frame);
                count += frame.Came.Length;
                gone += frame.Went.Length;
            }
            while (frame.HasGame);
            Equal(gone, count);
            Equal(frame.Objects.Length, 0);
            Equal(client.Find(Item.Command, "move", out move), Status.Nothing);
        }
    }

    private static void FramesMakeNoGarbage(bool callerDriven)
    {
        using (Client client = Play("field", null, callerDriven))
        {
            uint move;
            client.Find(Item.Command, "move", out move);
            True(CountsGarbage(), "the runtime counts what is allocated");
            // Until all names of events, and all that is in sight, were met.
            RunFrames(client, move, Frames);
            GC.Collect();
            int collections = GC.CollectionCount(0);
            long before = GC.GetAllocatedBytesForCurrentThread();
            double sum = RunFrames(client, move, Frames);
            long garbage = GC.GetAllocatedBytesForCurrentThread() - before;
            Equal(garbage, 0L);
            Equal(GC.CollectionCount(0), collections);
            True(sum != 0, "something was in sight");
        }
    }

    private static bool CountsGarbage()
    {
        long before = GC.GetAllocatedBytesForCurrentThread();
        object some = new byte[40];
        long after = GC.GetAllocatedBytesForCurrentThread();
        GC.KeepAlive(some);
        return after - before >= 40 && after - before < 100;
    }

    /// <summary>All that an engine does in its frames, with a command twice a second.</summary>
    private static double RunFrames(Client client, uint move, int frames)
    {
        double sum = 0;
        for (int number = 0; number < frames; number++)
        {
            ClientEvent happened;
            while (client.NextEvent(out happened))
            {
                sum += happened.Name.Length + (double)happened.Request;
            }
            Frame frame;
            client.NextFrame(out frame);
            sum += frame.Came.Length + frame.Went.Length;
            foreach (uint id in frame.Came)
            {
                sum += frame.IndexOf(id);
            }
            ReadOnlySpan<SeenObject> objects = frame.Objects;
            for (int index = 0; index < objects.Length; index++)
            {
                ref readonly SeenObject seen = ref objects[index];
                sum += seen.Position.X + seen.Rotation.W + (seen.IsOwn ? 1 : 0);
                int count = frame.ComponentCount(index);
                for (uint component = 0; component < count; component++)
                {
                    double value = frame.Value(index, component).Value;
                    sum += double.IsNaN(value) ? 0 : value;
                }
            }
            if (frame.Avatar >= 0)
            {
                string name = frame.Text(frame.Avatar, 1);
                sum += name == null ? 0 : name.Length;
                if (number % 30 == 0)
                {
                    Float3 at = objects[frame.Avatar].Position;
                    float way = number % 60 == 0 ? 3 : -3;
                    client.Send(move, CommandField.Position(at.X + way, at.Y));
                }
            }
            client.Hold((uint)number & 1);
            Statistics statistics;
            client.Statistics(out statistics);
            PlayerInfo player;
            client.Player(out player);
            sum += (double)statistics.DatagramsDown + player.Name.Length;
            Thread.Sleep(FrameMs);
        }
        return sum;
    }

    private static void TextsArrive()
    {
        using (Client client = Client.Start(To(server)))
        {
            Wait(client, "welcome");
            Sent(client.SayInLobby("\"quoted\" \\ \u00e9 \ud83d\ude00 {}"));
            Wait(client, "chat", json =>
                json.Contains("\"text\":\"\\\"quoted\\\" \\\\ \u00e9 \ud83d\ude00 {}\""));
            ulong number = Sent(client.ListRooms());
            Equal(Wait(client, "rooms"), number);
            number = Sent(client.ListPlayers(true));
            Equal(Wait(client, "players"), number);
            number = Sent(client.DescribeGame("field"));
            Equal(Wait(client, "game"), number);
            Sent(client.SetName("c\"#"));
            Wait(client, "renamed", json => json.Contains("\"c\\\"#\""));
        }
    }

    private static void AFunctionSteers()
    {
        using (Client client = Client.Start(To(server, true)))
        {
            int calls = 0;
            uint keys = 0;
            bool throws = false;
            float width = 0;
            Equal(client.Steer("shooter", "ship", (
                ref Movement movement, HeldControls held, SteerTerrain terrain, float seconds) =>
            {
                calls++;
                keys |= held.Keys;
                float height;
                terrain.Size(out width, out height);
                if (throws)
                {
                    throw new FormatException("of the function");
                }
                Float3 to = movement.Position;
                to.X += 30 * seconds;
                movement.Position = terrain.Stop(movement.Position, to, 1);
            }), Status.Ok);
            Enter(client, "shooter", null);
            Frame frame;
            client.NextFrame(out frame);
            float from = frame.Objects[frame.Avatar].Position.X;
            float most = 0;
            // At the host it stays where it is: this key fires.
            uint fire;
            Equal(client.Find(Item.Control, "fire", out fire), Status.Ok);
            client.Hold(1u << (int)fire);
            for (int number = 0; number < 60; number++)
            {
                ClientEvent happened;
                while (client.NextEvent(out happened))
                {
                }
                client.NextFrame(out frame);
                if (frame.Avatar >= 0)
                {
                    most = Math.Max(most, frame.Objects[frame.Avatar].Position.X - from);
                }
                Thread.Sleep(FrameMs);
            }
            True(calls > 0, "it is called");
            Equal(keys, 1u << (int)fire);
            True(width > 10, width + " m");
            True(most > 0.5, "it moves the avatar: " + most);
            throws = true;
            Exception thrown = null;
            for (int number = 0; number < 60 && thrown == null; number++)
            {
                try
                {
                    client.NextFrame(out frame);
                }
                catch (InvalidOperationException problem)
                {
                    thrown = problem.InnerException;
                }
                Thread.Sleep(FrameMs);
            }
            True(thrown is FormatException, "what it throws comes out: " + thrown);
        }
    }

    private static void ASessionIsResumed()
    {
        byte[] token;
        ulong player;
        using (Client client = Client.Start(To(server)))
        {
            Wait(client, "welcome");
            token = client.ResumeToken();
            PlayerInfo info;
            client.Player(out info);
            player = info.Player;
            True(token.Length > 0 && player != 0, "a token");
            ClientOptions options = To(server);
            options.ResumeToken = token;
            using (Client second = Client.Start(options))
            {
                Wait(second, "welcome", json => json.Contains("\"resumed\":true"));
                second.Player(out info);
                Equal(info.Player, player);
            }
        }
    }

    /// <summary>Asserts nothing: it is for the reader.</summary>
    private static void PrintTheCostOfAFrame()
    {
        Dictionary<string, string> crowd = new Dictionary<string, string>
        {
            { "npcs", "1000" }, { "size", "40x40" }, { "obstacles", "0" }, { "wolves", "0" },
        };
        using (Client client = Play("field", crowd, false))
        {
            Thread.Sleep(2000);
            Frame frame;
            double sum = 0;
            long seen = 0;
            double best = double.MaxValue;
            double bestCrossing = double.MaxValue;
            for (int round = 0; round < 200; round++)
            {
                ClientEvent happened;
                while (client.NextEvent(out happened))
                {
                }
                Stopwatch time = Stopwatch.StartNew();
                client.NextFrame(out frame);
                double crossing = time.Elapsed.TotalMilliseconds;
                ReadOnlySpan<SeenObject> objects = frame.InSight;
                for (int index = 0; index < objects.Length; index++)
                {
                    sum += objects[index].Position.X;
                }
                best = Math.Min(best, time.Elapsed.TotalMilliseconds);
                bestCrossing = Math.Min(bestCrossing, crossing);
                seen = objects.Length;
                Thread.Sleep(5);
            }
            Console.WriteLine(
                "        {0} objects: {1:0.000} ms a frame, {2:0.000} ms with all positions ({3})",
                seen, bestCrossing, best, sum > 0);
        }
    }

    // Helpers.

    private static AmbitException TryThrown(Action call)
    {
        try
        {
            call();
            return null;
        }
        catch (AmbitException thrown)
        {
            return thrown;
        }
    }

    private static AmbitException Thrown(Action call)
    {
        AmbitException thrown = TryThrown(call);
        True(thrown != null, "nothing was thrown");
        return thrown;
    }

    private static void True(bool holds, string what)
    {
        if (!holds)
        {
            throw new Exception(what);
        }
    }

    private static void Equal<T>(T found, T expected)
    {
        if (!EqualityComparer<T>.Default.Equals(found, expected))
        {
            throw new Exception("found " + found + ", expected " + expected);
        }
    }
}
