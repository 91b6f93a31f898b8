using System;
using System.Collections.Generic;

namespace Ambit
{
    /// <summary>How to start a client. Only <see cref="Server"/> is needed.</summary>
    public sealed class ClientOptions
    {
        /// <summary>`HOST:PORT`; of a cluster several, with commas between them.</summary>
        public string Server;
        /// <summary>The player's name; the server chooses one without it.</summary>
        public string Name;
        /// <summary>
        /// `device` for the account of this device, or a file with one, which is made if it is
        /// missing. Without it, <see cref="Password"/> and <see cref="Token"/> the player is a
        /// guest.
        /// </summary>
        public string Account;
        /// <summary>Signs in with a password.</summary>
        public PasswordSignIn Password;
        /// <summary>Signs in with a token of the operator's service.</summary>
        public string Token;
        /// <summary>
        /// The library has no thread for this client: it works in <see cref="Client.Poll"/>,
        /// <see cref="Client.NextFrame"/> and <see cref="Client.NextEvent"/> alone. Functions that
        /// steer need it.
        /// </summary>
        public bool CallerDriven;
        /// <summary>What comes into sight, changes and goes are events, too.</summary>
        public bool ObjectEvents;
        /// <summary>
        /// The SHA-256 of the server's certificate, 32 bytes. Null: that of the first contact is
        /// trusted, and noted in <see cref="KnownHosts"/>.
        /// </summary>
        public byte[] Certificate;
        /// <summary>
        /// The file of trusted certificates. Null: that of the user, which phones do not have; in
        /// Unity give a file in `Application.persistentDataPath`.
        /// </summary>
        public string KnownHosts;
        /// <summary>Continues an earlier session: <see cref="Client.ResumeToken"/>.</summary>
        public byte[] ResumeToken;
        /// <summary>How long it tries to reconnect.</summary>
        public TimeSpan? ReconnectFor;
        /// <summary>When poses are shown: `room`, `adaptive`, or a delay like `100ms`.</summary>
        public string Render;
        /// <summary>Whether the own avatar is predicted.</summary>
        public bool? Predict;
        /// <summary>How the host codes poses: `auto`, `plain`, `shared`, `fine`.</summary>
        public string Coding;
        /// <summary>How often held keys are sent, per second: 20 or 60.</summary>
        public uint? InputHz;
        /// <summary>Makes the line bad, for trying things out: `loss=5,delay=40ms`.</summary>
        public string Impair;

        internal string Settings()
        {
            Json json = new Json().Begin();
            Add(json, "name", Name);
            Add(json, "account", Account);
            if (Password != null)
            {
                json.Key("password").Begin().Key("login").Text(Password.Login)
                    .Key("password").Text(Password.Password)
                    .Key("is_new").Flag(Password.IsNew).End();
            }
            Add(json, "token", Token);
            Add(json, "render", Render);
            Add(json, "coding", Coding);
            Add(json, "impair", Impair);
            if (ReconnectFor.HasValue)
            {
                double most = Math.Max(0, ReconnectFor.Value.TotalMilliseconds);
                json.Key("reconnect_for_ms").Number((ulong)most);
            }
            if (Predict.HasValue)
            {
                json.Key("predict").Flag(Predict.Value);
            }
            if (InputHz.HasValue)
            {
                json.Key("input_hz").Number(InputHz.Value);
            }
            return json.End().ToString();
        }

        private static void Add(Json json, string key, string text)
        {
            if (text != null)
            {
                json.Key(key).Text(text);
            }
        }
    }

    /// <summary>An account with a password.</summary>
    public sealed class PasswordSignIn
    {
        /// <summary>`ann#48213`; of a new account the name alone.</summary>
        public string Login;
        public string Password;
        /// <summary>Makes the account; the event `welcome` has its login.</summary>
        public bool IsNew;
    }

    /// <summary>A room to create.</summary>
    public sealed class NewRoom
    {
        public string Name;
        public string Game;
        /// <summary>Seats; 0 for what the game has by default.</summary>
        public uint Capacity;
        /// <summary>Null without one.</summary>
        public string Password;
        /// <summary>Of the game; numbers and flags as texts. Null without any.</summary>
        public Dictionary<string, string> Parameters;
    }
}
