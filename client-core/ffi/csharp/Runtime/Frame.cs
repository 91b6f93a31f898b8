using System;

namespace Ambit
{
    /// <summary>
    /// What is in sight at one time: views on the library's arrays, without a copy.
    ///
    /// It ends with the next frame and with the client. Its members throw then; spans that were
    /// taken from it before cannot, so do not keep them.
    /// </summary>
    public readonly unsafe ref struct Frame
    {
        private readonly Client client;
        private readonly ulong number;
        private readonly NativeFrame native;

        internal Frame(Client client, ulong number, NativeFrame native)
        {
            this.client = client;
            this.number = number;
            this.native = native;
        }

        /// <summary>Whether there is a game. Otherwise all is empty.</summary>
        public bool HasGame
        {
            get { return client != null && native.TimeUs >= 0; }
        }

        /// <summary>The room time that it shows, in microseconds; -1 without a game.</summary>
        public long TimeUs
        {
            get { return client == null ? -1 : native.TimeUs; }
        }

        /// <summary>All objects: those in sight, then the room-wide ones; each by ids.</summary>
        public ReadOnlySpan<SeenObject> Objects
        {
            get { return Part(0, native.ObjectCount); }
        }

        /// <summary>Those that have a place.</summary>
        public ReadOnlySpan<SeenObject> InSight
        {
            get { return Part(0, native.InSight); }
        }

        /// <summary>Those that all players of the room know, without a place.</summary>
        public ReadOnlySpan<SeenObject> RoomWide
        {
            get { return Part(native.InSight, native.ObjectCount - native.InSight); }
        }

        /// <summary>Ids of objects that were not in the frame before, in their order.</summary>
        public ReadOnlySpan<uint> Came
        {
            get
            {
                CheckNow();
                return new ReadOnlySpan<uint>(native.Came, (int)native.CameCount);
            }
        }

        /// <summary>Ids of those that are not any more.</summary>
        public ReadOnlySpan<uint> Went
        {
            get
            {
                CheckNow();
                return new ReadOnlySpan<uint>(native.Went, (int)native.WentCount);
            }
        }

        /// <summary>The index of the player's avatar in <see cref="Objects"/>, or -1.</summary>
        public int Avatar
        {
            get { return client == null ? -1 : unchecked((int)native.Avatar); }
        }

        /// <summary>The index of an object in <see cref="Objects"/>, or -1.</summary>
        public int IndexOf(uint id)
        {
            CheckNow();
            int index = Search(id, 0, (int)native.InSight);
            return index >= 0 ? index : Search(id, (int)native.InSight, (int)native.ObjectCount);
        }

        /// <summary>How many components an object has.</summary>
        public int ComponentCount(int index)
        {
            CheckObject(index);
            uint next = index + 1 < (int)native.ObjectCount
                ? native.Objects[index + 1].FirstValue
                : native.ValueCount;
            return (int)(next - native.Objects[index].FirstValue);
        }

        /// <summary>
        /// The value of a component, by the object's index and the component's
        /// (<see cref="Client.Find"/>).
        /// </summary>
        public ref readonly ComponentValue Value(int index, uint component)
        {
            if (component >= (uint)ComponentCount(index))
            {
                throw new ArgumentOutOfRangeException("component");
            }
            return ref native.Values[native.Objects[index].FirstValue + component];
        }

        /// <summary>
        /// The text of a component that the game declares as a text; null if it has none. A number
        /// or a flag may stand for any text: what a component is, says the schema. A text is made
        /// once, as long as it is in sight.
        /// </summary>
        public string Text(int index, uint component)
        {
            double value = Value(index, component).Value;
            // Also false for NaN.
            return value >= 1 && value <= uint.MaxValue ? client.TextOf((uint)value) : null;
        }

        private ReadOnlySpan<SeenObject> Part(uint first, uint count)
        {
            CheckNow();
            // A null pointer stays one: nothing is added to it.
            return new ReadOnlySpan<SeenObject>(native.Objects + first, (int)count);
        }

        private int Search(uint id, int first, int end)
        {
            while (first < end)
            {
                int middle = first + (end - first) / 2;
                uint there = native.Objects[middle].Id;
                if (there == id)
                {
                    return middle;
                }
                if (there < id)
                {
                    first = middle + 1;
                }
                else
                {
                    end = middle;
                }
            }
            return -1;
        }

        private void CheckObject(int index)
        {
            CheckNow();
            if ((uint)index >= native.ObjectCount)
            {
                throw new ArgumentOutOfRangeException("index");
            }
        }

        private void CheckNow()
        {
            if (client != null && client.FrameNumber != number)
            {
                throw new InvalidOperationException(
                    "this frame has ended, with the next one or with its client");
            }
        }
    }
}
