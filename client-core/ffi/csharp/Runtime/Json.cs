using System.Globalization;
using System.Text;

namespace Ambit
{
    /// <summary>Writes JSON. Only the parts that requests and settings have.</summary>
    internal sealed class Json
    {
        private readonly StringBuilder json = new StringBuilder();
        private bool needsComma;

        internal Json Begin()
        {
            Separate();
            json.Append('{');
            needsComma = false;
            return this;
        }

        internal Json End()
        {
            json.Append('}');
            needsComma = true;
            return this;
        }

        internal Json Key(string key)
        {
            Separate();
            AppendText(key);
            json.Append(':');
            needsComma = false;
            return this;
        }

        internal Json Text(string text)
        {
            Separate();
            AppendText(text ?? "");
            needsComma = true;
            return this;
        }

        internal Json Flag(bool flag)
        {
            return Plain(flag ? "true" : "false");
        }

        internal Json Number(ulong number)
        {
            // Some cultures group digits.
            return Plain(number.ToString(CultureInfo.InvariantCulture));
        }

        public override string ToString()
        {
            return json.ToString();
        }

        private Json Plain(string plain)
        {
            Separate();
            json.Append(plain);
            needsComma = true;
            return this;
        }

        private void Separate()
        {
            if (needsComma)
            {
                json.Append(',');
            }
        }

        private void AppendText(string text)
        {
            json.Append('"');
            foreach (char one in text)
            {
                if (one == '"' || one == '\\')
                {
                    json.Append('\\').Append(one);
                }
                else if (one < ' ')
                {
                    json.Append("\\u").Append(
                        ((int)one).ToString("x4", CultureInfo.InvariantCulture));
                }
                else
                {
                    json.Append(one);
                }
            }
            json.Append('"');
        }
    }
}
