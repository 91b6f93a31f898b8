// Compares the structures of this binding with those of the library that was loaded.

namespace Ambit
{
    /// <summary>
    /// Offsets are measured on the structures themselves: that is how the code reads them. What
    /// `Marshal.OffsetOf` says is the layout of a copy that nothing here makes.
    /// </summary>
    internal static unsafe class Layouts
    {
        private static bool isChecked;

        /// <summary>Throws if the library is another one. Done once.</summary>
        internal static void CheckOnce()
        {
            if (isChecked)
            {
                return;
            }
            CheckAll();
            isChecked = true;
        }

        internal static void CheckAll()
        {
            uint version = Native.ambit_interface_version();
            if (version != Native.InterfaceVersion)
            {
                throw Other("the library has version " + version + " of the interface; this " +
                    "binding is written for version " + Native.InterfaceVersion);
            }
            NativeOptions o;
            byte* at = (byte*)&o;
            Grows(0, "AmbitOptions", sizeof(NativeOptions),
                Of(at, &o.Size), Of(at, &o.InterfaceVersion), Of(at, &o.Flags),
                Of(at, &o.Reserved), Of(at, &o.Server), Of(at, &o.Settings),
                Of(at, &o.Certificate), Of(at, &o.KnownHosts), Of(at, &o.ResumeToken),
                Of(at, &o.ResumeTokenLength));
            NativeFrame f;
            at = (byte*)&f;
            Grows(1, "AmbitFrame", sizeof(NativeFrame),
                Of(at, &f.Size), Of(at, &f.InSight), Of(at, &f.TimeUs), Of(at, &f.Objects),
                Of(at, &f.Values), Of(at, &f.Came), Of(at, &f.Went), Of(at, &f.ObjectCount),
                Of(at, &f.ValueCount), Of(at, &f.CameCount), Of(at, &f.WentCount),
                Of(at, &f.Avatar), Of(at, &f.Reserved));
            NativeEvent e;
            at = (byte*)&e;
            Grows(2, "AmbitEvent", sizeof(NativeEvent),
                Of(at, &e.Size), Of(at, &e.Of), Of(at, &e.Request), Of(at, &e.Name),
                Of(at, &e.Json));
            NativePlayer p;
            at = (byte*)&p;
            Grows(3, "AmbitPlayer", sizeof(NativePlayer),
                Of(at, &p.Size), Of(at, &p.State), Of(at, &p.Player), Of(at, &p.Room),
                Of(at, &p.Name), Of(at, &p.ResumeToken), Of(at, &p.ResumeTokenLength));
            Statistics s;
            at = (byte*)&s;
            Grows(4, "AmbitStatistics", sizeof(Statistics),
                Of(at, &s.Size), Of(at, &s.Reserved), Of(at, &s.RoomTimeUs),
                Of(at, &s.RoundTripMs), Of(at, &s.JitterMs), Of(at, &s.ShownBehindMs),
                Of(at, &s.SilenceMs), Of(at, &s.Loss), Of(at, &s.LateShare),
                Of(at, &s.DatagramsDown), Of(at, &s.DatagramsUp), Of(at, &s.BytesDown),
                Of(at, &s.BytesUp), Of(at, &s.Commands), Of(at, &s.Confirmed),
                Of(at, &s.Refused));
            NativeError error;
            at = (byte*)&error;
            Grows(5, "AmbitError", sizeof(NativeError),
                Of(at, &error.Size), Of(at, &error.Status), Of(at, &error.Code),
                Of(at, &error.Message));
            SeenObject seen;
            at = (byte*)&seen;
            IsSame(6, "AmbitObject", sizeof(SeenObject),
                Of(at, &seen.Position), Of(at, &seen.Rotation), Of(at, &seen.Velocity),
                Of(at, &seen.AngularVelocity), Of(at, &seen.AgeMs), Of(at, &seen.Id),
                Of(at, &seen.Kind), Of(at, &seen.Flags), Of(at, &seen.FirstValue));
            ComponentValue value;
            at = (byte*)&value;
            IsSame(7, "AmbitValue", sizeof(ComponentValue),
                Of(at, &value.Value), Of(at, &value.Rate), Of(at, &value.Max));
            NativeField field;
            at = (byte*)&field;
            IsSame(8, "AmbitField", sizeof(NativeField),
                Of(at, &field.Kind), Of(at, &field.Reserved), Of(at, &field.Number),
                Of(at, &field.X), Of(at, &field.Y), Of(at, &field.Z),
                Of(at, &field.ReservedToo), Of(at, &field.Text));
            Movement movement;
            at = (byte*)&movement;
            IsSame(9, "AmbitMovement", sizeof(Movement),
                Of(at, &movement.Position), Of(at, &movement.Yaw), Of(at, &movement.Velocity));
            HeldControls held;
            at = (byte*)&held;
            IsSame(10, "AmbitHeld", sizeof(HeldControls),
                Of(at, &held.Keys), Of(at, &held.Axis0));
            NativeText text;
            at = (byte*)&text;
            IsSame(11, "AmbitText", sizeof(NativeText), Of(at, &text.Text), Of(at, &text.Length));
        }

        /// <summary>
        /// A structure with a size field: a later library may have more fields. The first of those
        /// begins where this one ends.
        /// </summary>
        internal static void Grows(uint structure, string name, int size, params int[] offsets)
        {
            for (int field = 0; field < offsets.Length; field++)
            {
                Compare(structure, name, field, offsets[field]);
            }
            Compare(structure, name, offsets.Length, size);
        }

        /// <summary>A structure without one: it stands in arrays, so its size is fixed.</summary>
        internal static void IsSame(uint structure, string name, int size, params int[] offsets)
        {
            Grows(structure, name, size, offsets);
            uint after = Native.ambit_layout(structure, (uint)offsets.Length + 1);
            if (after != Native.None)
            {
                throw Other(name + " of the library has more fields");
            }
        }

        private static void Compare(uint structure, string name, int field, int here)
        {
            uint there = Native.ambit_layout(structure, (uint)field);
            if (there != (uint)here)
            {
                throw Other(name + ", field " + field + ": the library has it at " + there +
                    ", this binding at " + here);
            }
        }

        private static int Of(byte* structure, void* field)
        {
            return (int)((byte*)field - structure);
        }

        private static AmbitException Other(string message)
        {
            return new AmbitException(
                Status.OtherVersion, "other_version", message + "; use files of one version");
        }
    }
}
