// The functions of libambit_client, as its header `ambit_client.h` has them.
//
// Rules, so that IL2CPP needs no marshalling code: integers, floats and pointers by value, never a
// struct, a string, an enum or a delegate. `Tests/Checks.cs` holds this file to them.

using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

[assembly: InternalsVisibleTo("Checks")]

namespace Ambit
{
    internal static unsafe class Native
    {
        /// <summary>The version of the C interface that this binding is written for.</summary>
        internal const uint InterfaceVersion = 1;
        internal const uint CallerDriven = 1;
        internal const uint ObjectEvents = 2;
        internal const uint None = uint.MaxValue;
        /// <summary>At most as many fields of one command.</summary>
        internal const int MaxFields = 64;

#if UNITY_IOS && !UNITY_EDITOR
        // iOS links the static library into the program.
        private const string Library = "__Internal";
#else
        private const string Library = "ambit_client";
#endif
        private const CallingConvention C = CallingConvention.Cdecl;

        [DllImport(Library, CallingConvention = C)]
        internal static extern uint ambit_interface_version();

        [DllImport(Library, CallingConvention = C)]
        internal static extern uint ambit_layout(uint structure, uint field);

        [DllImport(Library, CallingConvention = C)]
        internal static extern uint ambit_start(NativeOptions* options, ulong* client);

        [DllImport(Library, CallingConvention = C)]
        internal static extern uint ambit_close(ulong client, uint wait_ms);

        [DllImport(Library, CallingConvention = C)]
        internal static extern uint ambit_poll(ulong client, uint wait_ms);

        [DllImport(Library, CallingConvention = C)]
        internal static extern uint ambit_now(ulong client, ulong* now_us);

        [DllImport(Library, CallingConvention = C)]
        internal static extern uint ambit_request(
            ulong client, byte* request, ulong length, ulong* number);

        [DllImport(Library, CallingConvention = C)]
        internal static extern uint ambit_next_event(ulong client, NativeEvent* happened);

        [DllImport(Library, CallingConvention = C)]
        internal static extern uint ambit_send(
            ulong client, byte* name, ulong name_length, byte* values, ulong values_length,
            uint* number);

        [DllImport(Library, CallingConvention = C)]
        internal static extern uint ambit_send_fields(
            ulong client, uint command, NativeField* fields, ulong count, uint* number);

        [DllImport(Library, CallingConvention = C)]
        internal static extern uint ambit_hold(ulong client, uint keys);

        [DllImport(Library, CallingConvention = C)]
        internal static extern uint ambit_set_axis(ulong client, uint control, float value);

        [DllImport(Library, CallingConvention = C)]
        internal static extern uint ambit_frame(ulong client, ulong at_us, NativeFrame* frame);

        [DllImport(Library, CallingConvention = C)]
        internal static extern uint ambit_text(ulong client, uint number, NativeText* text);

        [DllImport(Library, CallingConvention = C)]
        internal static extern uint ambit_find(
            ulong client, uint what, uint parent, byte* name, ulong length, uint* index);

        [DllImport(Library, CallingConvention = C)]
        internal static extern uint ambit_name(
            ulong client, uint what, uint parent, uint index, NativeText* name);

        [DllImport(Library, CallingConvention = C)]
        internal static extern uint ambit_describe(ulong client, uint what, NativeText* json);

        [DllImport(Library, CallingConvention = C)]
        internal static extern uint ambit_map(ulong client, float** numbers, ulong* count);

        [DllImport(Library, CallingConvention = C)]
        internal static extern uint ambit_player(ulong client, NativePlayer* player);

        [DllImport(Library, CallingConvention = C)]
        internal static extern uint ambit_statistics(ulong client, Statistics* statistics);

        [DllImport(Library, CallingConvention = C)]
        internal static extern uint ambit_last_error(NativeError* error);

        [DllImport(Library, CallingConvention = C)]
        internal static extern uint ambit_steer(
            ulong client, byte* game, ulong game_length, byte* kind, ulong kind_length,
            void* function, void* user);

        [DllImport(Library, CallingConvention = C)]
        internal static extern uint ambit_terrain_stop(
            void* terrain, float* from, float* to, float radius, float* reached);

        [DllImport(Library, CallingConvention = C)]
        internal static extern uint ambit_terrain_size(void* terrain, float* width_height);

        [DllImport(Library, CallingConvention = C)]
        internal static extern uint ambit_log(uint level);

        [DllImport(Library, CallingConvention = C)]
        internal static extern uint ambit_next_log(
            byte* line, ulong room, ulong* length, ulong* dropped);
    }
}
