// The Ambit client for C++17: a header over ambit_client.h, without exceptions and without RTTI.
//
// A Client closes itself. Calls return a Result: a value, nothing, or an error with its code and
// text. Frames, events and texts are views into the library's memory: nothing is copied, and a
// frame allocates nothing. Each says how long it stays.
// Threads, units and texts are those of ambit_client.h.
#ifndef AMBIT_CLIENT_HPP
#define AMBIT_CLIENT_HPP

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "ambit_client.h"

namespace ambit {

// Why a call did nothing.
struct Error {
    AmbitStatus status = AMBIT_STATUS_OK;
    std::string code;     // Stable: for programs.
    std::string message;  // For people.
};

// The value of a call without one.
struct Done {};

// What a call returns: a value, nothing (no event, no game, no such name), or an error.
// `if (auto frame = client.frame()) use(*frame);`
template <typename T = Done>
class [[nodiscard]] Result {
public:
    Result(T value) : value_(std::move(value)) {}
    Result(Error error) : error_(std::move(error)) {}

    bool ok() const { return value_.has_value(); }
    explicit operator bool() const { return ok(); }
    bool is_nothing() const { return error_.status == AMBIT_STATUS_NOTHING; }
    bool is_error() const { return error_.status > AMBIT_STATUS_NOTHING; }

    AmbitStatus status() const { return error_.status; }
    const std::string& code() const { return error_.code; }
    const std::string& message() const { return error_.message; }
    const Error& error() const { return error_; }

    // Without a value these end the program: it was to be checked before.
    T& operator*() { return require(), *value_; }
    const T& operator*() const { return require(), *value_; }
    T* operator->() { return require(), &*value_; }
    const T* operator->() const { return require(), &*value_; }

private:
    // Not `check`: that is a macro in Unreal.
    void require() const {
        if (!value_) std::abort();
    }

    std::optional<T> value_;
    Error error_;
};

// A part of the library's memory.
template <typename T>
class Span {
public:
    Span() = default;
    Span(const T* data, std::size_t size) : data_(data), size_(size) {}

    const T* begin() const { return data_; }
    const T* end() const { return data_ + size_; }
    const T* data() const { return data_; }
    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    const T& operator[](std::size_t index) const { return data_[index]; }

private:
    const T* data_ = nullptr;
    std::size_t size_ = 0;
};

inline std::string_view view_of(AmbitText text) {
    return {reinterpret_cast<const char*>(text.text), static_cast<std::size_t>(text.length)};
}

inline const std::uint8_t* bytes_of(std::string_view text) {
    return reinterpret_cast<const std::uint8_t*>(text.data());
}

// The text has to outlive what is returned.
inline AmbitText text_of(std::string_view text) { return {bytes_of(text), text.size()}; }

// Appends a text as JSON, with quotes.
inline void append_json(std::string& json, std::string_view text) {
    static constexpr char digits[] = "0123456789abcdef";
    json += '"';
    for (const char letter : text) {
        const auto byte = static_cast<unsigned char>(letter);
        if (byte == '"' || byte == '\\') {
            json += '\\';
            json += letter;
        } else if (byte < 0x20) {
            json += "\\u00";
            json += digits[byte >> 4];
            json += digits[byte & 15];
        } else {
            json += letter;
        }
    }
    json += '"';
}

inline std::string json_of(std::string_view text) {
    std::string json;
    append_json(json, text);
    return json;
}

// No error. Its texts are so short that strings need no memory for them.
inline Error nothing() { return {AMBIT_STATUS_NOTHING, "nothing", "no such thing"}; }

// The result of a call of the C interface.
inline Result<> result_of(AmbitStatus status) {
    if (status == AMBIT_STATUS_OK) return Done{};
    if (status == AMBIT_STATUS_NOTHING) return nothing();
    AmbitError error{};
    error.size = sizeof error;
    ambit_last_error(&error);
    return Error{status, std::string(view_of(error.code)), std::string(view_of(error.message))};
}

template <typename T>
Result<T> result_of(AmbitStatus status, T value) {
    if (status == AMBIT_STATUS_OK) return value;
    return result_of(status).error();
}

namespace detail {

// Whether the fields of S begin where those of the library do. A structure that the library has
// made longer still fits, unless it stands in arrays.
template <typename S, typename... Fields>
bool has_layout(std::uint32_t structure, bool may_grow, Fields S::*... fields) {
    static const S object{};
    const auto start = reinterpret_cast<const char*>(&object);
    std::uint32_t index = 0;
    const auto is_at = [&](std::ptrdiff_t place) {
        return ambit_layout(structure, index++) == static_cast<std::uint32_t>(place);
    };
    const bool fits = (is_at(reinterpret_cast<const char*>(&(object.*fields)) - start) && ...);
    return fits && is_at(sizeof(S)) &&
           (may_grow || ambit_layout(structure, index) == AMBIT_NONE);
}

// The name of a structure that the library lays out in another way, or null.
inline const char* misfit() {
    using O = AmbitOptions;
    if (!has_layout(0, true, &O::size, &O::interface_version, &O::flags, &O::reserved, &O::server,
                    &O::settings, &O::certificate, &O::known_hosts, &O::resume_token,
                    &O::resume_token_length)) {
        return "AmbitOptions";
    }
    using F = AmbitFrame;
    if (!has_layout(1, true, &F::size, &F::in_sight, &F::time_us, &F::objects, &F::values,
                    &F::came, &F::went, &F::object_count, &F::value_count, &F::came_count,
                    &F::went_count, &F::avatar, &F::reserved)) {
        return "AmbitFrame";
    }
    using E = AmbitEvent;
    if (!has_layout(2, true, &E::size, &E::of, &E::request, &E::name, &E::json)) {
        return "AmbitEvent";
    }
    using P = AmbitPlayer;
    if (!has_layout(3, true, &P::size, &P::state, &P::player, &P::room, &P::name,
                    &P::resume_token, &P::resume_token_length)) {
        return "AmbitPlayer";
    }
    using S = AmbitStatistics;
    if (!has_layout(4, true, &S::size, &S::reserved, &S::room_time_us, &S::round_trip_ms,
                    &S::jitter_ms, &S::shown_behind_ms, &S::silence_ms, &S::loss, &S::late_share,
                    &S::datagrams_down, &S::datagrams_up, &S::bytes_down, &S::bytes_up,
                    &S::commands, &S::confirmed, &S::refused)) {
        return "AmbitStatistics";
    }
    using R = AmbitError;
    if (!has_layout(5, true, &R::size, &R::status, &R::code, &R::message)) return "AmbitError";
    using B = AmbitObject;
    if (!has_layout(6, false, &B::position, &B::rotation, &B::velocity, &B::angular_velocity,
                    &B::age_ms, &B::id, &B::kind, &B::flags, &B::first_value)) {
        return "AmbitObject";
    }
    using V = AmbitValue;
    if (!has_layout(7, false, &V::value, &V::rate, &V::max)) return "AmbitValue";
    using D = AmbitField;
    if (!has_layout(8, false, &D::kind, &D::reserved, &D::number, &D::x, &D::y, &D::z,
                    &D::reserved_too, &D::text)) {
        return "AmbitField";
    }
    using M = AmbitMovement;
    if (!has_layout(9, false, &M::position, &M::yaw, &M::velocity)) return "AmbitMovement";
    if (!has_layout(10, false, &AmbitHeld::keys, &AmbitHeld::axes)) return "AmbitHeld";
    if (!has_layout(11, false, &AmbitText::text, &AmbitText::length)) return "AmbitText";
    return nullptr;
}

}  // namespace detail

// Whether the library that is loaded is one that this header was written for. `Client::start` does
// it, too.
inline Result<> check_library() {
    const std::uint32_t version = ambit_interface_version();
    if (version != AMBIT_INTERFACE_VERSION) {
        return Error{AMBIT_STATUS_OTHER_VERSION, "other_version",
                     "the library has version " + std::to_string(version) +
                         " of the interface; this program was compiled for " +
                         std::to_string(AMBIT_INTERFACE_VERSION)};
    }
    static const char* const misfit = detail::misfit();
    if (misfit != nullptr) {
        return Error{AMBIT_STATUS_OTHER_VERSION, "other_layout",
                     std::string(misfit) + " is laid out in another way than in the library; "
                     "compile with the library's own header and without changed packing"};
    }
    return Done{};
}

// An account with a password.
struct PasswordSignIn {
    std::string login;  // "ann#48213"; of a new account the name alone.
    std::string password;
    bool is_new = false;  // Makes the account; the event `welcome` has its login.
};

// How to start a client. Only `server` is needed; the rest is as in AmbitOptions. Without one of
// `account`, `password` and `token` the player is a guest.
struct Options {
    std::string server;   // HOST:PORT; of a cluster several, with commas between them.
    std::string name;     // The player's name; empty: the server gives one.
    std::string account;  // "device" for the account of this device, or a file with one.
    std::optional<PasswordSignIn> password;
    std::string token;  // Of the operator's service.
    std::string render;  // How far behind room time others are shown: "room", "100ms", "adaptive".
    std::string coding;
    std::string impair;  // Makes the line bad, to try things out: "loss=5,delay=40ms".
    std::optional<bool> predict;
    std::optional<std::uint32_t> reconnect_for_ms;
    std::optional<std::uint32_t> input_hz;
    bool is_driven_by_caller = false;  // No thread of the library: call `poll` or `frame`.
    bool has_object_events = false;    // `enter`, `update` and `leave` are events, too.
    std::optional<std::array<std::uint8_t, 32>> certificate;  // SHA-256; else trust on first use.
    std::string known_hosts;                 // The file of trusted certificates.
    std::vector<std::uint8_t> resume_token;  // Of an earlier session: `Player`.
};

// What is in sight at one time. It stays until the next `Client::frame`, or until the client ends.
class Frame {
public:
    explicit Frame(const AmbitFrame& frame) : frame_(frame) {}

    bool has_game() const { return frame_.time_us >= 0; }
    std::int64_t time_us() const { return frame_.time_us; }

    Span<AmbitObject> objects() const { return {frame_.objects, frame_.object_count}; }
    Span<AmbitObject> in_sight() const { return {frame_.objects, frame_.in_sight}; }
    Span<AmbitObject> room_wide() const {
        // Without a game the array may be null, to which nothing is added.
        if (frame_.object_count == frame_.in_sight) return {};
        return {frame_.objects + frame_.in_sight, frame_.object_count - frame_.in_sight};
    }

    // The ids of the objects that were not in the frame before, and of those that went.
    Span<std::uint32_t> came() const { return {frame_.came, frame_.came_count}; }
    Span<std::uint32_t> went() const { return {frame_.went, frame_.went_count}; }

    // The player's own, or null.
    const AmbitObject* avatar() const {
        return frame_.avatar == AMBIT_NONE ? nullptr : frame_.objects + frame_.avatar;
    }

    // The object with this id, or null. Both parts of the array ascend.
    const AmbitObject* find(std::uint32_t id) const {
        for (const Span<AmbitObject> part : {in_sight(), room_wide()}) {
            const auto is_before = [](const AmbitObject& object, std::uint32_t wanted) {
                return object.id < wanted;
            };
            const auto at = std::lower_bound(part.begin(), part.end(), id, is_before);
            if (at != part.end() && at->id == id) return at;
        }
        return nullptr;
    }

    // The value of a component of one of this frame's objects, by its index (`Client::find`); null
    // if its kind has no such component.
    const AmbitValue* value(const AmbitObject& object, std::uint32_t component) const {
        const AmbitObject* const last = frame_.objects + frame_.object_count;
        const AmbitObject* const next = &object + 1;
        const std::uint64_t end = next < last ? next->first_value : frame_.value_count;
        const std::uint64_t at = std::uint64_t{object.first_value} + component;
        return at < end ? frame_.values + at : nullptr;
    }

    const AmbitFrame& raw() const { return frame_; }

private:
    AmbitFrame frame_;
};

// An event. Its texts stay until the next `Client::next_event`.
struct Event {
    bool is_of_game = false;    // Else of the lobby.
    std::uint64_t request = 0;  // The number of the request that it answers, or 0.
    std::string_view name;
    std::string_view json;  // All of it.
};

// Who the player is. Its texts stay until the next `Client::player`.
struct Player {
    bool is_connected = false;
    bool is_playing = false;
    bool is_closed = false;
    std::uint64_t player = 0;  // The number in the lobby, or 0.
    std::uint64_t room = 0;    // The room, or 0.
    std::string_view name;
    Span<std::uint8_t> resume_token;  // Secret: it resumes this session.
};

// A room to create: {"mine", "field"}. Parameters are of the game: {"npcs", "20"}.
struct NewRoom {
    std::string_view name;
    std::string_view game;
    std::uint32_t capacity = 0;  // Seats; 0: as the game says.
    // With a value each, so that compilers do not warn of a list without them.
    std::vector<std::pair<std::string, std::string>> parameters = {};
    std::string_view password = {};
};

// Values for the fields of a command. A text has to outlive the call.
namespace field {

inline AmbitField of(std::uint32_t kind) {
    AmbitField field{};
    field.kind = kind;
    return field;
}

inline AmbitField none() { return of(AMBIT_FIELD_NONE); }

inline AmbitField number(std::int64_t value) {
    AmbitField field = of(AMBIT_FIELD_NUMBER);
    field.number = value;
    return field;
}

inline AmbitField decimal(float value) {
    AmbitField field = of(AMBIT_FIELD_DECIMAL);
    field.x = value;
    return field;
}

inline AmbitField position(float x, float y, float z = 0) {
    AmbitField field = of(AMBIT_FIELD_POSITION);
    field.x = x;
    field.y = y;
    field.z = z;
    return field;
}

inline AmbitField object(std::uint32_t id) {
    AmbitField field = of(AMBIT_FIELD_OBJECT);
    field.number = id;
    return field;
}

// A text, or the name of a choice.
inline AmbitField text(std::string_view value) {
    AmbitField field = of(AMBIT_FIELD_TEXT);
    field.text = text_of(value);
    return field;
}

inline AmbitField flag(bool value) {
    AmbitField field = of(AMBIT_FIELD_FLAG);
    field.number = value ? 1 : 0;
    return field;
}

}  // namespace field

// For functions that steer: the map, during their call.
class Terrain {
public:
    explicit Terrain(const void* terrain) : terrain_(terrain) {}

    // How far a body of this radius gets; in metres, x, y, z.
    std::array<float, 3> stop(const std::array<float, 3>& from, const std::array<float, 3>& to,
                              float radius) const {
        std::array<float, 3> reached = from;
        ambit_terrain_stop(terrain_, from.data(), to.data(), radius, reached.data());
        return reached;
    }

    // The extent on x and y.
    std::array<float, 2> size() const {
        std::array<float, 2> size{};
        ambit_terrain_size(terrain_, size.data());
        return size;
    }

private:
    const void* terrain_;
};

// A client; it ends with this object. For one thread at a time.
class Client {
public:
    // Connects at once, and reconnects by itself. Whether the server was reached says an event.
    static Result<Client> start(const Options& options) {
        if (auto checked = check_library(); !checked) return checked.error();
        const std::string settings = settings_of(options);
        AmbitOptions raw{};
        raw.size = sizeof raw;
        raw.interface_version = AMBIT_INTERFACE_VERSION;
        raw.flags = (options.is_driven_by_caller ? AMBIT_CALLER_DRIVEN : 0U) |
                    (options.has_object_events ? AMBIT_OBJECT_EVENTS : 0U);
        raw.server = text_of(options.server);
        raw.settings = text_of(settings);
        raw.certificate = options.certificate ? options.certificate->data() : nullptr;
        raw.known_hosts = text_of(options.known_hosts);
        raw.resume_token = options.resume_token.data();
        raw.resume_token_length = options.resume_token.size();
        std::uint64_t handle = 0;
        if (auto started = result_of(ambit_start(&raw, &handle)); !started) return started.error();
        return Client(handle);
    }

    Client(Client&& other) noexcept : handle_(std::exchange(other.handle_, 0)) {}
    Client& operator=(Client&& other) noexcept {
        if (this != &other) {
            end();
            handle_ = std::exchange(other.handle_, 0);
        }
        return *this;
    }
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;
    ~Client() { end(); }

    // Leaves, and waits at most this long until the server knows. While another thread calls this
    // client that is an error, and the client goes on.
    Result<> close(std::uint32_t wait_ms = 1000) {
        const AmbitStatus status = ambit_close(handle_, wait_ms);
        if (status != AMBIT_STATUS_BUSY) handle_ = 0;
        return result_of(status);
    }

    // For a client that its caller drives: sends and receives; waits at most this long.
    Result<> poll(std::uint32_t wait_ms = 0) { return result_of(ambit_poll(handle_, wait_ms)); }

    // The time of the client's clock, in microseconds since its start.
    Result<std::uint64_t> now_us() const {
        std::uint64_t now = 0;
        const AmbitStatus status = ambit_now(handle_, &now);
        return result_of(status, now);
    }

    // What is in sight now, or at a time of the client's clock. Never waits.
    Result<Frame> frame(std::uint64_t at_us = 0) {
        AmbitFrame raw{};
        raw.size = sizeof raw;
        const AmbitStatus status = ambit_frame(handle_, at_us, &raw);
        return result_of(status, Frame(raw));
    }

    // The text with the number that a value of a frame has, if the game declares the component as a
    // text: the number of another one may be that of any text. It stays until the next frame.
    Result<std::string_view> text(double number) const {
        // NaN is no number, and the cast of one that does not fit is undefined.
        if (!(number >= 0 && number < AMBIT_NONE)) return nothing();
        AmbitText text{};
        const AmbitStatus status = ambit_text(handle_, static_cast<std::uint32_t>(number), &text);
        return result_of(status, view_of(text));
    }

    // `while (auto event = client.next_event()) ...`
    Result<Event> next_event() {
        AmbitEvent event{};
        event.size = sizeof event;
        const AmbitStatus status = ambit_next_event(handle_, &event);
        return result_of(status, Event{event.of == AMBIT_OF_GAME, event.request,
                                       view_of(event.name), view_of(event.json)});
    }

    // Requests. The result is the number that the event with the answer has.
    Result<std::uint64_t> request(std::string_view json) {
        std::uint64_t number = 0;
        const AmbitStatus status =
            ambit_request(handle_, bytes_of(json), json.size(), &number);
        return result_of(status, number);
    }
    Result<std::uint64_t> create_room(const NewRoom& room) {
        std::string json = R"({"create_room":{"name":)" + json_of(room.name) +
                           R"(,"game":)" + json_of(room.game) +
                           R"(,"capacity":)" + std::to_string(room.capacity) +
                           R"(,"password":)" + json_of(room.password) + R"(,"parameters":{)";
        for (const auto& [key, value] : room.parameters) {
            if (json.back() != '{') json += ',';
            json += json_of(key) + ':' + json_of(value);
        }
        return request(json + "}}}");
    }
    Result<std::uint64_t> join_room(std::uint64_t room, std::string_view password = {}) {
        return request(R"({"join_room":{"room":)" + std::to_string(room) + R"(,"password":)" +
                       json_of(password) + "}}");
    }
    Result<std::uint64_t> leave_room() { return request(R"("leave_room")"); }
    Result<std::uint64_t> start_room() { return request(R"("start_room")"); }
    Result<std::uint64_t> set_ready(bool is_ready) {
        return request(R"({"set_ready":)" + std::string(word(is_ready)) + "}");
    }
    Result<std::uint64_t> list_rooms(bool subscribe = false) {
        return request(R"({"list_rooms":{"subscribe":)" + std::string(word(subscribe)) + "}}");
    }
    Result<std::uint64_t> list_players(bool everybody = false) {
        return request(R"({"list_players":{"everybody":)" + std::string(word(everybody)) + "}}");
    }
    Result<std::uint64_t> describe_game(std::string_view game) {
        return request(R"({"describe_game":{"game":)" + json_of(game) + "}}");
    }
    Result<std::uint64_t> set_name(std::string_view name) {
        return request(R"({"set_name":)" + json_of(name) + "}");
    }
    Result<std::uint64_t> kick(std::uint64_t player) {
        return request(R"({"kick":)" + std::to_string(player) + "}");
    }
    Result<std::uint64_t> say_to_lobby(std::string_view text) { return say(R"("lobby")", text); }
    Result<std::uint64_t> say_to_room(std::string_view text) { return say(R"("room")", text); }
    Result<std::uint64_t> say_to(std::uint64_t player, std::string_view text) {
        return say(R"({"player":)" + std::to_string(player) + "}", text);
    }
    Result<std::uint64_t> say_to(std::string_view player, std::string_view text) {
        return say(R"({"player_named":)" + json_of(player) + "}", text);
    }

    // Gives a command by its index (`find`): client.send(move, {field::position(120, 90)}).
    // The result is its number, which the events `confirmed` and `refused` have.
    Result<std::uint32_t> send(std::uint32_t command, Span<AmbitField> fields) {
        std::uint32_t number = 0;
        const AmbitStatus status =
            ambit_send_fields(handle_, command, fields.data(), fields.size(), &number);
        return result_of(status, number);
    }
    Result<std::uint32_t> send(std::uint32_t command, std::initializer_list<AmbitField> fields) {
        return send(command, Span<AmbitField>(fields.begin(), fields.size()));
    }
    // The same by its name, with its values as a JSON list: client.send("move", "[[120, 90]]").
    Result<std::uint32_t> send(std::string_view command, std::string_view values) {
        std::uint32_t number = 0;
        const AmbitStatus status = ambit_send(handle_, bytes_of(command), command.size(),
                                              bytes_of(values), values.size(), &number);
        return result_of(status, number);
    }

    // Holds these controls, one bit each, and releases all others.
    Result<> hold(std::uint32_t keys) { return result_of(ambit_hold(handle_, keys)); }
    // Moves an axis, by its index: -1 to 1, or radians.
    Result<> set_axis(std::uint32_t control, float value) {
        return result_of(ambit_set_axis(handle_, control, value));
    }

    // The index of a name in the game's schema; `what` is AMBIT_KIND, AMBIT_COMPONENT...
    Result<std::uint32_t> find(std::uint32_t what, std::string_view name,
                               std::uint32_t parent = 0) const {
        std::uint32_t index = AMBIT_NONE;
        const AmbitStatus status =
            ambit_find(handle_, what, parent, bytes_of(name), name.size(), &index);
        return result_of(status, index);
    }

    // The name of the item with this index, the reverse of `find`; nothing after the last one. It
    // stays until the next call of this.
    Result<std::string_view> name(std::uint32_t what, std::uint32_t index,
                                  std::uint32_t parent = 0) {
        AmbitText text{};
        const AmbitStatus status = ambit_name(handle_, what, parent, index, &text);
        return result_of(status, view_of(text));
    }

    // AMBIT_SCHEMA, AMBIT_RULES or AMBIT_COUNTERS as JSON. It stays until the next call of this.
    Result<std::string_view> describe(std::uint32_t what) {
        AmbitText json{};
        const AmbitStatus status = ambit_describe(handle_, what, &json);
        return result_of(status, view_of(json));
    }

    // The static map: 9 numbers for each obstacle. It stays until the next call of this.
    Result<Span<float>> map() {
        const float* numbers = nullptr;
        std::uint64_t count = 0;
        const AmbitStatus status = ambit_map(handle_, &numbers, &count);
        return result_of(status, Span<float>(numbers, static_cast<std::size_t>(count)));
    }

    Result<Player> player() {
        AmbitPlayer raw{};
        raw.size = sizeof raw;
        const AmbitStatus status = ambit_player(handle_, &raw);
        Player player;
        player.is_connected = (raw.state & AMBIT_CONNECTED) != 0;
        player.is_playing = (raw.state & AMBIT_PLAYING) != 0;
        player.is_closed = (raw.state & AMBIT_CLOSED) != 0;
        player.player = raw.player;
        player.room = raw.room;
        player.name = view_of(raw.name);
        player.resume_token = {raw.resume_token,
                               static_cast<std::size_t>(raw.resume_token_length)};
        return result_of(status, player);
    }

    Result<AmbitStatistics> statistics() const {
        AmbitStatistics statistics{};
        statistics.size = sizeof statistics;
        const AmbitStatus status = ambit_statistics(handle_, &statistics);
        return result_of(status, statistics);
    }

    // Predicts the player's own avatar, of this kind in games of this name, by a pure function that
    // does the same as the host's. For a client that its caller drives. `user` has to outlive it.
    Result<> steer(std::string_view game, std::string_view kind, AmbitSteer function,
                   void* user = nullptr) {
        return result_of(ambit_steer(handle_, bytes_of(game), game.size(), bytes_of(kind),
                                     kind.size(), function, user));
    }

    // For functions of the C interface that have no method here; 0 after `close`.
    std::uint64_t handle() const { return handle_; }

private:
    explicit Client(std::uint64_t handle) : handle_(handle) {}

    // A call of another thread ends soon.
    void end() {
        for (int attempt = 0; handle_ != 0 && attempt < 1000; ++attempt) {
            if (ambit_close(handle_, 1000) != AMBIT_STATUS_BUSY) handle_ = 0;
            else std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        handle_ = 0;
    }

    static std::string_view word(bool value) { return value ? "true" : "false"; }

    Result<std::uint64_t> say(std::string_view to, std::string_view text) {
        return request(R"({"say":{"to":)" + std::string(to) + R"(,"text":)" + json_of(text) +
                       "}}");
    }

    static std::string settings_of(const Options& options) {
        std::string json = "{";
        const auto add = [&json](std::string_view key, std::string_view value) {
            if (json.size() > 1) json += ',';
            json += json_of(key) + ':';
            json += value;
        };
        if (!options.name.empty()) add("name", json_of(options.name));
        if (!options.account.empty()) add("account", json_of(options.account));
        if (options.password) {
            add("password", R"({"login":)" + json_of(options.password->login) +
                                R"(,"password":)" + json_of(options.password->password) +
                                R"(,"is_new":)" + std::string(word(options.password->is_new)) +
                                '}');
        }
        if (!options.token.empty()) add("token", json_of(options.token));
        if (!options.render.empty()) add("render", json_of(options.render));
        if (!options.coding.empty()) add("coding", json_of(options.coding));
        if (!options.impair.empty()) add("impair", json_of(options.impair));
        if (options.predict) add("predict", word(*options.predict));
        if (options.reconnect_for_ms) {
            add("reconnect_for_ms", std::to_string(*options.reconnect_for_ms));
        }
        if (options.input_hz) add("input_hz", std::to_string(*options.input_hz));
        return json + "}";
    }

    std::uint64_t handle_ = 0;
};

}  // namespace ambit

#endif  // AMBIT_CLIENT_HPP
