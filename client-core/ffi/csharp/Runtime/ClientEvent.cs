using System;

namespace Ambit
{
    /// <summary>
    /// An event of the lobby or of the game. Its JSON can be read until the next
    /// <see cref="Client.NextEvent"/>; one that is not read makes no garbage.
    /// </summary>
    public readonly unsafe ref struct ClientEvent
    {
        private readonly Client client;
        private readonly ulong number;
        private readonly NativeText json;

        /// <summary>What happened: `welcome`, `rooms`, `started`, `event`, `error`...</summary>
        public readonly string Name;
        /// <summary>The number of the request that it answers, or 0.</summary>
        public readonly ulong Request;
        /// <summary>Of the game; otherwise of the lobby.</summary>
        public readonly bool IsOfGame;

        internal ClientEvent(Client client, ulong number, string name, NativeEvent native)
        {
            this.client = client;
            this.number = number;
            json = native.Json;
            Name = name;
            Request = native.Request;
            IsOfGame = native.Of == 2;
        }

        /// <summary>All of it, as JSON. Each call makes a string.</summary>
        public string Json
        {
            get
            {
                CheckNow();
                return Utf8.Read(json);
            }
        }

        /// <summary>The same in UTF-8, where the library has it.</summary>
        public ReadOnlySpan<byte> JsonUtf8
        {
            get
            {
                CheckNow();
                return new ReadOnlySpan<byte>(json.Text, (int)json.Length);
            }
        }

        private void CheckNow()
        {
            if (client != null && client.EventNumber != number)
            {
                throw new InvalidOperationException(
                    "this event has ended, with the next one or with its client");
            }
        }
    }
}
