using System;

namespace Ambit
{
    /// <summary>
    /// What a call returns. `Ok` and `Nothing` are no errors. What a correct program can meet is
    /// returned (<see cref="Client.LastError"/> has the text); what only a wrong one can is thrown
    /// as an <see cref="AmbitException"/>.
    /// </summary>
    public enum Status : uint
    {
        Ok = 0,
        /// <summary>There is nothing: no event, no game, no item of this name.</summary>
        Nothing = 1,
        /// <summary>Thrown: the client was closed.</summary>
        NoClient = 16,
        /// <summary>Thrown: another thread is calling this client.</summary>
        Busy = 17,
        /// <summary>Thrown.</summary>
        BadPointer = 18,
        /// <summary>Thrown: a length is larger than what it may be.</summary>
        BadLength = 19,
        /// <summary>Thrown.</summary>
        BadText = 20,
        /// <summary>Thrown.</summary>
        BadSize = 21,
        /// <summary>Thrown: library and binding are of different versions.</summary>
        OtherVersion = 22,
        /// <summary>A setting, request or argument cannot be read, or does not exist.</summary>
        BadOption = 23,
        /// <summary>Thrown: only a client that is driven the other way can do it.</summary>
        WrongMode = 24,
        /// <summary>
        /// More than a second has passed since the last poll or frame; the call did nothing. The
        /// next one works again. Only clients with <see cref="ClientOptions.CallerDriven"/>.
        /// </summary>
        NotPolled = 25,
        /// <summary>Too many clients, functions that steer, or open requests.</summary>
        TooMany = 26,
        /// <summary>The connection is closed for good.</summary>
        Closed = 27,
        /// <summary>The player is in no game.</summary>
        NotPlaying = 28,
        /// <summary>The game or the client's core refused it; the error's code says why.</summary>
        Refused = 29,
        /// <summary>The system refused something: a thread, a file, a socket.</summary>
        Failed = 30,
        /// <summary>Thrown: the library has a fault. The client is closed.</summary>
        Panicked = 31,
    }

    /// <summary>Why a call did nothing.</summary>
    public readonly struct ErrorText
    {
        public readonly Status Status;
        /// <summary>Stable.</summary>
        public readonly string Code;
        /// <summary>What happened, what was expected, and what to do.</summary>
        public readonly string Message;

        internal ErrorText(Status status, string code, string message)
        {
            Status = status;
            Code = code;
            Message = message;
        }

        public override string ToString()
        {
            return Message + " (" + Code + ")";
        }

        /// <summary>See <see cref="Client.LastError"/>.</summary>
        internal static unsafe ErrorText Last()
        {
            NativeError error = default(NativeError);
            error.Size = (uint)sizeof(NativeError);
            Native.ambit_last_error(&error);
            return new ErrorText(
                (Status)error.Status, Utf8.Read(error.Code), Utf8.Read(error.Message));
        }
    }

    /// <summary>The program, or the library, has a fault.</summary>
    public sealed class AmbitException : Exception
    {
        public Status Status { get; private set; }
        /// <summary>Stable.</summary>
        public string Code { get; private set; }

        internal AmbitException(Status status, string code, string message) : base(message)
        {
            Status = status;
            Code = code;
        }

        /// <summary>Throws if the status is one of misuse; returns it otherwise.</summary>
        internal static Status Check(uint status)
        {
            switch ((Status)status)
            {
                case Status.Ok:
                case Status.Nothing:
                case Status.BadOption:
                case Status.NotPolled:
                case Status.TooMany:
                case Status.Closed:
                case Status.NotPlaying:
                case Status.Refused:
                case Status.Failed:
                    return (Status)status;
                default:
                    throw FromLast();
            }
        }

        internal static AmbitException FromLast()
        {
            ErrorText error = ErrorText.Last();
            return new AmbitException(error.Status, error.Code, error.Message);
        }
    }

    /// <summary>A request or a command, and how it went.</summary>
    public readonly struct Sent
    {
        /// <summary>`Ok` if it is on its way.</summary>
        public readonly Status Status;
        /// <summary>
        /// Of a request: that of the event with the answer (<see cref="ClientEvent.Request"/>). Of
        /// a command: that of the events `confirmed` and `refused`.
        /// </summary>
        public readonly ulong Number;

        internal Sent(Status status, ulong number)
        {
            Status = status;
            Number = number;
        }

        public bool IsOk
        {
            get { return Status == Status.Ok; }
        }
    }
}
