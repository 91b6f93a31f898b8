using System;
using System.Collections.Generic;
using System.Text;

namespace Ambit
{
    /// <summary>Texts on both sides of the border.</summary>
    internal static unsafe class Utf8
    {
        /// <summary>What cannot be a text, such as half of a pair, becomes U+FFFD.</summary>
        internal static byte[] Bytes(string text)
        {
            return string.IsNullOrEmpty(text) ? Array.Empty<byte>() : Encoding.UTF8.GetBytes(text);
        }

        internal static string Read(NativeText text)
        {
            return text.Length == 0 ? "" : Encoding.UTF8.GetString(text.Text, (int)text.Length);
        }
    }

    /// <summary>
    /// Texts that come again and again, so that each is made once. Bound: <see cref="Most"/>; then
    /// they are forgotten. Cost: a search through all.
    /// </summary>
    internal sealed unsafe class TextCache
    {
        private const int Most = 64;
        private readonly List<KeyValuePair<byte[], string>> known =
            new List<KeyValuePair<byte[], string>>();

        internal TextCache(params string[] expected)
        {
            foreach (string text in expected)
            {
                Add(text);
            }
        }

        internal string Read(NativeText text)
        {
            for (int index = 0; index < known.Count; index++)
            {
                if (IsSame(known[index].Key, text))
                {
                    return known[index].Value;
                }
            }
            if (known.Count == Most)
            {
                known.Clear();
            }
            string read = Utf8.Read(text);
            Add(read);
            return read;
        }

        private void Add(string text)
        {
            known.Add(new KeyValuePair<byte[], string>(Utf8.Bytes(text), text));
        }

        private static bool IsSame(byte[] bytes, NativeText text)
        {
            if ((ulong)bytes.Length != text.Length)
            {
                return false;
            }
            for (int index = 0; index < bytes.Length; index++)
            {
                if (bytes[index] != text.Text[index])
                {
                    return false;
                }
            }
            return true;
        }
    }
}
