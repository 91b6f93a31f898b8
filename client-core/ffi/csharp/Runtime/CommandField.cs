namespace Ambit
{
    /// <summary>The value of a field of a command.</summary>
    public readonly struct CommandField
    {
        private readonly uint kind;
        private readonly long number;
        private readonly Float3 position;
        internal readonly string Characters;

        private CommandField(uint kind, long number, Float3 position, string characters)
        {
            this.kind = kind;
            this.number = number;
            this.position = position;
            Characters = characters;
        }

        /// <summary>No value, for an optional field.</summary>
        public static CommandField None
        {
            get { return default(CommandField); }
        }

        public static CommandField Number(long number)
        {
            return new CommandField(1, number, default(Float3), null);
        }

        /// <summary>A decimal; of an angle the radians.</summary>
        public static CommandField Decimal(float value)
        {
            return new CommandField(2, 0, new Float3(value, 0, 0), null);
        }

        /// <summary>In metres: x to the east, y to the north, z up.</summary>
        public static CommandField Position(float x, float y, float z = 0)
        {
            return new CommandField(3, 0, new Float3(x, y, z), null);
        }

        public static CommandField Object(uint id)
        {
            return new CommandField(4, id, default(Float3), null);
        }

        /// <summary>A text, or the name of a choice.</summary>
        public static CommandField Text(string text)
        {
            return new CommandField(5, 0, default(Float3), text);
        }

        public static CommandField Flag(bool flag)
        {
            return new CommandField(6, flag ? 1 : 0, default(Float3), null);
        }

        /// <summary>Without its text.</summary>
        internal NativeField ToNative()
        {
            NativeField native = default(NativeField);
            native.Kind = kind;
            native.Number = number;
            native.X = position.X;
            native.Y = position.Y;
            native.Z = position.Z;
            return native;
        }
    }
}
