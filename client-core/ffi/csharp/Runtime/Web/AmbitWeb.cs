#if UNITY_WEBGL && !UNITY_EDITOR
using System;
using System.Runtime.InteropServices;

namespace Ambit
{
    /// <summary>
    /// A client in a page, by the package for browsers: <c>ambit-bridge.js</c> has the calls and
    /// their JSON. Errors of requests and commands are events called <c>error</c>.
    /// </summary>
    public sealed class AmbitWeb
    {
        /// <summary>
        /// Numbers of an object in <see cref="Frame"/>: id, kind, 1 if it is the player's own, x, y,
        /// z, heading.
        /// </summary>
        public const int Numbers = 7;

        private readonly int client;
        private double[] frame = new double[64 * Numbers];

        /// <summary>Options of <c>connect</c> of the package, as JSON.</summary>
        public AmbitWeb(string options)
        {
            client = AmbitWebStart(options);
            if (client < 0)
            {
                throw new InvalidOperationException("the page has not loaded ambit-bridge.js");
            }
        }

        /// <summary>The objects of the last <see cref="Draw"/>, one after the other.</summary>
        public double[] Frame
        {
            get { return frame; }
        }

        /// <summary>Draws a frame; returns the number of its objects.</summary>
        public int Draw()
        {
            int count = AmbitWebDraw(client);
            if (frame.Length < count * Numbers)
            {
                frame = new double[2 * count * Numbers];
            }
            AmbitWebCopyFrame(client, frame, count * Numbers);
            return count;
        }

        /// <summary>What has happened since the last call: a list of
        /// <c>{"of", "request", "event"}</c>, as JSON.</summary>
        public string Events()
        {
            return AmbitWebEvents(client);
        }

        /// <summary>What the game declares, as JSON.</summary>
        public string Schema()
        {
            return AmbitWebSchema(client);
        }

        /// <summary>Returns the number that the event with the answer has.</summary>
        public int Request(string json)
        {
            return AmbitWebRequest(client, json);
        }

        /// <summary>Gives a command, with its values as a JSON list.</summary>
        public bool Send(string command, string values)
        {
            return AmbitWebSend(client, command, values) != 0;
        }

        /// <summary>Holds controls: a JSON list of names.</summary>
        public bool Hold(string controls)
        {
            return AmbitWebHold(client, controls) != 0;
        }

        public bool SetAxis(string control, float value)
        {
            return AmbitWebSetAxis(client, control, value) != 0;
        }

        public void Close()
        {
            AmbitWebClose(client);
        }

        [DllImport("__Internal")]
        private static extern int AmbitWebStart(string options);

        [DllImport("__Internal")]
        private static extern int AmbitWebRequest(int client, string request);

        [DllImport("__Internal")]
        private static extern int AmbitWebSend(int client, string command, string values);

        [DllImport("__Internal")]
        private static extern int AmbitWebHold(int client, string controls);

        [DllImport("__Internal")]
        private static extern int AmbitWebSetAxis(int client, string control, float value);

        [DllImport("__Internal")]
        private static extern string AmbitWebEvents(int client);

        [DllImport("__Internal")]
        private static extern string AmbitWebSchema(int client);

        [DllImport("__Internal")]
        private static extern int AmbitWebDraw(int client);

        [DllImport("__Internal")]
        private static extern void AmbitWebCopyFrame(int client, [Out] double[] into, int numbers);

        [DllImport("__Internal")]
        private static extern void AmbitWebClose(int client);
    }
}
#endif
