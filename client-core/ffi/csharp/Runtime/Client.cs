using System;
using System.Collections.Generic;
using System.Text;

namespace Ambit
{
    /// <summary>What <see cref="Client.Find"/> looks for.</summary>
    public enum Item : uint
    {
        Kind = 1,
        /// <summary>Of the kind with the index `parent`.</summary>
        Component = 2,
        Event = 3,
        Command = 4,
        /// <summary>Of the command with the index `parent`.</summary>
        CommandField = 5,
        /// <summary>Held, or an axis.</summary>
        Control = 6,
        Refusal = 7,
    }

    /// <summary>What <see cref="Client.Describe"/> writes.</summary>
    public enum Description : uint
    {
        /// <summary>What the game declares: kinds, events, commands, controls.</summary>
        Schema = 1,
        /// <summary>The local lag, the tick rate, the size of the map and of the zones.</summary>
        Rules = 2,
        /// <summary>All counters.</summary>
        Counters = 3,
    }

    /// <summary>Who the player is, and where.</summary>
    public readonly struct PlayerInfo
    {
        /// <summary>The lobby answers.</summary>
        public readonly bool IsConnected;
        public readonly bool IsPlaying;
        /// <summary>The client has ended for good.</summary>
        public readonly bool IsClosed;
        /// <summary>The number in the lobby, or 0.</summary>
        public readonly ulong Player;
        /// <summary>The room, or 0.</summary>
        public readonly ulong Room;
        public readonly string Name;

        internal PlayerInfo(in NativePlayer native, string name)
        {
            IsConnected = (native.State & 1) != 0;
            IsPlaying = (native.State & 2) != 0;
            IsClosed = (native.State & 4) != 0;
            Player = native.Player;
            Room = native.Room;
            Name = name;
        }
    }

    /// <summary>
    /// A player's connection to a server, with all that is seen through it.
    ///
    /// Call it from one thread at a time. Calls do not wait, but for <see cref="Poll"/> and
    /// <see cref="Close"/>. It reconnects by itself: through broken lines, lost hosts and gates it
    /// stays the same. Results: see <see cref="Status"/>.
    /// </summary>
    public sealed unsafe partial class Client : IDisposable
    {
        /// <summary>How long <see cref="Dispose"/> waits for the server.</summary>
        private const uint DisposeWaitMs = 500;
        /// <summary>
        /// Texts kept at most. The library keeps fewer: then all that are still in sight are read
        /// again, once.
        /// </summary>
        private const int MaxTexts = 8192;
        /// <summary>Texts of one command that fit here are encoded without garbage.</summary>
        private const int TextRoom = 1024;

        private readonly ClientHandle handle;
        private readonly Dictionary<uint, string> texts = new Dictionary<uint, string>();
        /// <summary>The most frequent first. Others are no fault: they are made once.</summary>
        private readonly TextCache eventNames = new TextCache(
            "confirmed", "event", "update", "enter", "leave", "refused", "chat", "notice", "heard",
            "silent", "interrupted", "map_progress", "map", "started", "ended", "rooms",
            "room_changed", "room_gone", "players", "renamed", "created", "joined", "left", "done",
            "game", "error", "missed", "connecting", "welcome", "closed");
        private readonly TextCache playerNames = new TextCache();

        /// <summary>Of the frame that can be read.</summary>
        internal ulong FrameNumber { get; private set; }
        /// <summary>Of the event that can be read.</summary>
        internal ulong EventNumber { get; private set; }

        private Client(ulong number)
        {
            handle = new ClientHandle(number);
        }

        /// <summary>
        /// Starts a client, which connects at once. Whether the server was reached says an event:
        /// `welcome` or `closed`. Throws `DllNotFoundException` without the library.
        /// </summary>
        public static Status TryStart(ClientOptions options, out Client client)
        {
            Layouts.CheckOnce();
            client = null;
            if (options.Certificate != null && options.Certificate.Length != 32)
            {
                // The library reads 32 bytes, and gets no length.
                throw new AmbitException(Status.BadLength, "bad_length",
                    "a certificate's SHA-256 has 32 bytes, not " + options.Certificate.Length);
            }
            ulong number = 0;
            Status status;
            byte[] server = Utf8.Bytes(options.Server);
            byte[] settings = Utf8.Bytes(options.Settings());
            byte[] knownHosts = Utf8.Bytes(options.KnownHosts);
            fixed (byte* serverAt = server, settingsAt = settings, knownHostsAt = knownHosts)
            fixed (byte* certificateAt = options.Certificate, tokenAt = options.ResumeToken)
            {
                NativeOptions native = default(NativeOptions);
                native.Size = (uint)sizeof(NativeOptions);
                native.InterfaceVersion = Native.InterfaceVersion;
                native.Flags = (options.CallerDriven ? Native.CallerDriven : 0)
                    | (options.ObjectEvents ? Native.ObjectEvents : 0);
                native.Server.Text = serverAt;
                native.Server.Length = (ulong)server.Length;
                native.Settings.Text = settingsAt;
                native.Settings.Length = (ulong)settings.Length;
                native.Certificate = certificateAt;
                native.KnownHosts.Text = knownHostsAt;
                native.KnownHosts.Length = (ulong)knownHosts.Length;
                native.ResumeToken = tokenAt;
                native.ResumeTokenLength = options.ResumeToken == null
                    ? 0
                    : (ulong)options.ResumeToken.Length;
                status = AmbitException.Check(Native.ambit_start(&native, &number));
            }
            if (status == Status.Ok)
            {
                client = new Client(number);
            }
            return status;
        }

        /// <summary>The same; all errors are thrown.</summary>
        public static Client Start(ClientOptions options)
        {
            Client client;
            if (TryStart(options, out client) != Status.Ok)
            {
                throw AmbitException.FromLast();
            }
            return client;
        }

        /// <summary>
        /// Why the last call of this thread that was not `Ok` did nothing: an error, or `Nothing`.
        /// </summary>
        public static ErrorText LastError
        {
            get { return ErrorText.Last(); }
        }

        /// <summary>
        /// Leaves game, room and lobby, and waits at most `waitMs` until the server knows. All
        /// frames and events end. A second call does nothing; one while another thread is calling
        /// the client throws, and the client stays open.
        /// </summary>
        public void Close(uint waitMs)
        {
            if (handle.IsInvalid)
            {
                return;
            }
            FrameNumber++;
            EventNumber++;
            if (handle.CloseWithin(waitMs) == Status.Busy)
            {
                throw AmbitException.FromLast();
            }
        }

        /// <summary><see cref="Close"/>, with half a second for the server.</summary>
        public void Dispose()
        {
            Close(DisposeWaitMs);
        }

        /// <summary>
        /// For <see cref="ClientOptions.CallerDriven"/>: sends and receives, and waits at most
        /// `waitMs` for an event. Call it, or <see cref="NextFrame"/>, ten times a second.
        /// </summary>
        public Status Poll(uint waitMs = 0)
        {
            Status status = Done(Native.ambit_poll(handle.Number, waitMs));
            RethrowFromSteering();
            return status;
        }

        /// <summary>The time of the client's own clock, in microseconds since its start.</summary>
        public Status Now(out ulong nowUs)
        {
            ulong now = 0;
            Status status = Done(Native.ambit_now(handle.Number, &now));
            nowUs = now;
            return status;
        }

        /// <summary>
        /// Takes the next event, in the order in which they happened; false if there is none.
        /// </summary>
        public bool NextEvent(out ClientEvent next)
        {
            NativeEvent native = default(NativeEvent);
            native.Size = (uint)sizeof(NativeEvent);
            EventNumber++;
            Status status = Done(Native.ambit_next_event(handle.Number, &native));
            RethrowFromSteering();
            if (status != Status.Ok)
            {
                next = default(ClientEvent);
                return false;
            }
            next = new ClientEvent(this, EventNumber, eventNames.Read(native.Name), native);
            return true;
        }

        /// <summary>What is in sight now. One call a frame of the engine is enough.</summary>
        public bool NextFrame(out Frame frame)
        {
            return FrameAt(0, out frame);
        }

        /// <summary>
        /// What is in sight at a time of the client's clock, at most 100 ms ahead. False, and an
        /// empty frame, after a pause in which nothing was polled: the next call works again.
        /// </summary>
        public bool FrameAt(ulong atUs, out Frame frame)
        {
            NativeFrame native = default(NativeFrame);
            native.Size = (uint)sizeof(NativeFrame);
            FrameNumber++;
            Status status = Done(Native.ambit_frame(handle.Number, atUs, &native));
            RethrowFromSteering();
            frame = status == Status.Ok
                ? new Frame(this, FrameNumber, native)
                : default(Frame);
            return status == Status.Ok;
        }

        /// <summary>
        /// Gives a command by its index (<see cref="Find"/>), with the values of its fields in
        /// order. Makes no garbage.
        /// </summary>
        public Sent Send(uint command, ReadOnlySpan<CommandField> fields)
        {
            // More than the library accepts are not copied: their number alone is refused.
            int count = Math.Min(fields.Length, Native.MaxFields);
            int room = 0;
            for (int index = 0; index < count; index++)
            {
                string text = fields[index].Characters;
                room += text == null ? 0 : Encoding.UTF8.GetMaxByteCount(text.Length);
            }
            NativeField* native = stackalloc NativeField[Native.MaxFields];
            byte* small = stackalloc byte[TextRoom];
            byte[] large = room > TextRoom ? new byte[room] : null;
            uint number = 0;
            fixed (byte* pinned = large)
            {
                byte* at = large == null ? small : pinned;
                byte* end = at + Math.Max(room, TextRoom);
                for (int index = 0; index < count; index++)
                {
                    native[index] = fields[index].ToNative();
                    string text = fields[index].Characters;
                    if (!string.IsNullOrEmpty(text))
                    {
                        int length;
                        fixed (char* characters = text)
                        {
                            length = Encoding.UTF8.GetBytes(
                                characters, text.Length, at, (int)(end - at));
                        }
                        native[index].Text.Text = at;
                        native[index].Text.Length = (ulong)length;
                        at += length;
                    }
                }
                Status status = Done(Native.ambit_send_fields(
                    handle.Number, command, native, (ulong)fields.Length, &number));
                return new Sent(status, number);
            }
        }

        /// <summary>The same, of a command with one field.</summary>
        public Sent Send(uint command, in CommandField field)
        {
            NativeField native = field.ToNative();
            if (!string.IsNullOrEmpty(field.Characters))
            {
                return Send(command, new[] { field });
            }
            uint number = 0;
            Status status = Done(Native.ambit_send_fields(
                handle.Number, command, &native, 1, &number));
            return new Sent(status, number);
        }

        /// <summary>The same, of a command without fields.</summary>
        public Sent Send(uint command)
        {
            return Send(command, ReadOnlySpan<CommandField>.Empty);
        }

        /// <summary>
        /// Gives a command by its name, with its values as a JSON list: `[[120, 90]]`,
        /// `["bolt", null, 7]`. Makes garbage.
        /// </summary>
        public Sent Send(string name, string valuesJson)
        {
            byte[] nameBytes = Utf8.Bytes(name);
            byte[] values = Utf8.Bytes(valuesJson);
            uint number = 0;
            fixed (byte* nameAt = nameBytes, valuesAt = values)
            {
                Status status = Done(Native.ambit_send(
                    handle.Number, nameAt, (ulong)nameBytes.Length, valuesAt,
                    (ulong)values.Length, &number));
                return new Sent(status, number);
            }
        }

        /// <summary>
        /// Holds these controls, one bit each in the order of the schema, and releases all others.
        /// A press that is shorter than a frame counts, too.
        /// </summary>
        public Status Hold(uint keys)
        {
            return Done(Native.ambit_hold(handle.Number, keys));
        }

        /// <summary>
        /// Moves an axis, by its index among the controls: -1 to 1, or for an angle radians
        /// counter-clockwise from the east. It stays there.
        /// </summary>
        public Status SetAxis(uint control, float value)
        {
            return Done(Native.ambit_set_axis(handle.Number, control, value));
        }

        /// <summary>
        /// The index of a name in the schema of the game. `Nothing` without a game, or if it has no
        /// such item. Indexes stay for the game: look them up at the event `started`.
        /// </summary>
        public Status Find(Item what, uint parent, string name, out uint index)
        {
            uint found = Native.None;
            byte[] bytes = Utf8.Bytes(name);
            Status status;
            fixed (byte* at = bytes)
            {
                status = Done(Native.ambit_find(
                    handle.Number, (uint)what, parent, at, (ulong)bytes.Length, &found));
            }
            index = found;
            return status;
        }

        /// <summary>Of a kind, an event, a command, a control or a refusal.</summary>
        public Status Find(Item what, string name, out uint index)
        {
            return Find(what, 0, name, out index);
        }

        /// <summary>
        /// The name of the item with this index, the reverse of <see cref="Find"/>. `Nothing`, and
        /// null, after the last one and without a game. Makes a string at each call.
        /// </summary>
        public Status Name(Item what, uint parent, uint index, out string name)
        {
            NativeText text = default(NativeText);
            Status status = Done(
                Native.ambit_name(handle.Number, (uint)what, parent, index, &text));
            name = status == Status.Ok ? Utf8.Read(text) : null;
            return status;
        }

        /// <summary>Of a kind, an event, a command, a control or a refusal.</summary>
        public Status Name(Item what, uint index, out string name)
        {
            return Name(what, 0, index, out name);
        }

        /// <summary>`Nothing`, and null, without a game.</summary>
        public Status Describe(Description what, out string json)
        {
            NativeText text = default(NativeText);
            Status status = Done(Native.ambit_describe(handle.Number, (uint)what, &text));
            json = status == Status.Ok ? Utf8.Read(text) : null;
            return status;
        }

        /// <summary>
        /// The obstacles: the static map, once it has come, and those that objects in sight have
        /// (event `map`); `Nothing` before. They stay until the next call and until the client is
        /// closed.
        /// </summary>
        public Status Map(out ReadOnlySpan<Obstacle> obstacles)
        {
            float* numbers = null;
            ulong count = 0;
            Status status = Done(Native.ambit_map(handle.Number, &numbers, &count));
            int size = sizeof(Obstacle) / sizeof(float);
            obstacles = new ReadOnlySpan<Obstacle>(numbers, (int)count / size);
            return status;
        }

        /// <summary>Who the player is, and where.</summary>
        public Status Player(out PlayerInfo player)
        {
            NativePlayer native;
            Status status = Player(out native);
            player = status == Status.Ok
                ? new PlayerInfo(native, playerNames.Read(native.Name))
                : default(PlayerInfo);
            return status;
        }

        /// <summary>
        /// Secret: it continues this session, perhaps in another process
        /// (<see cref="ClientOptions.ResumeToken"/>). Empty before `welcome`.
        /// </summary>
        public byte[] ResumeToken()
        {
            NativePlayer native;
            Player(out native);
            byte[] token = new byte[(int)native.ResumeTokenLength];
            for (int index = 0; index < token.Length; index++)
            {
                token[index] = native.ResumeToken[index];
            }
            return token;
        }

        /// <summary>Counters, and the line as it is now.</summary>
        public Status Statistics(out Statistics statistics)
        {
            Statistics native = default(Statistics);
            native.Size = (uint)sizeof(Statistics);
            Status status = Done(Native.ambit_statistics(handle.Number, &native));
            statistics = native;
            return status;
        }

        /// <summary>Of a value of the frame that can be read.</summary>
        internal string TextOf(uint number)
        {
            string known;
            if (texts.TryGetValue(number, out known))
            {
                return known;
            }
            NativeText text = default(NativeText);
            if (Done(Native.ambit_text(handle.Number, number, &text)) != Status.Ok)
            {
                return null;
            }
            if (texts.Count >= MaxTexts)
            {
                texts.Clear();
            }
            known = Utf8.Read(text);
            texts.Add(number, known);
            return known;
        }

        private Status Player(out NativePlayer player)
        {
            NativePlayer native = default(NativePlayer);
            native.Size = (uint)sizeof(NativePlayer);
            Status status = Done(Native.ambit_player(handle.Number, &native));
            player = native;
            return status;
        }

        private Status Done(uint status)
        {
            // Otherwise the client could be collected, and closed, while the library works.
            GC.KeepAlive(this);
            return AmbitException.Check(status);
        }
    }
}
