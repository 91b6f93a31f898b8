/*
 * The Ambit client: libambit_client.
 *
 * Made from the Rust crate `ambit-client-ffi` by its test `the_header_is_that_of_the_functions`,
 * with AMBIT_RENEW_HEADER=1.
 *
 * Threads: a client is called from one thread at a time; another one gets AMBIT_STATUS_BUSY. Several
 * clients may be used at once. Calls never wait, but for `ambit_close` and `ambit_poll` as long as
 * they are told to.
 * Memory: what goes in is read during the call. What comes out belongs to the library, and stays as
 * long as the function says.
 * Units: metres, radians, seconds unless a name says otherwise (`_ms`, `_us`); x to the east, y to
 * the north, z up.
 * Texts are UTF-8 with a length. Structures with a `size`: set it to sizeof before the call.
 * Errors: each function returns an AmbitStatus; above AMBIT_STATUS_NOTHING it is an error, and
 * `ambit_last_error` has its code and text.
 */

#ifndef AMBIT_CLIENT_H
#define AMBIT_CLIENT_H

#include <stdint.h>

/**
 * The version of this interface. Another first version is refused; what is added leaves it as it
 * is.
 */
#define AMBIT_INTERFACE_VERSION 1

/**
 * A flag of `AmbitOptions`: the library has no thread for this client. It does what is to be done
 * in `ambit_poll`, `ambit_frame` and `ambit_next_event`, on the thread that calls them. After a
 * pause of more than a second, also before the first of them, the next call is
 * `AMBIT_STATUS_NOT_POLLED` and does nothing; the one after it works again.
 */
#define AMBIT_CALLER_DRIVEN 1

/**
 * A flag of `AmbitOptions`: what comes into sight, changes and goes are events, too (`enter`,
 * `update`, `leave`). Frames have the same.
 */
#define AMBIT_OBJECT_EVENTS 2

/**
 * No index.
 */
#define AMBIT_NONE UINT32_MAX

/**
 * A flag of `AmbitObject`: the player's avatar, or a row of the player.
 */
#define AMBIT_OWN 1

/**
 * A flag of `AmbitObject`: it moves.
 */
#define AMBIT_MOVES 2

/**
 * An event of the lobby.
 */
#define AMBIT_OF_LOBBY 1

/**
 * An event of the game.
 */
#define AMBIT_OF_GAME 2

/**
 * A state of `AmbitPlayer`: the lobby answers.
 */
#define AMBIT_CONNECTED 1

/**
 * A state of `AmbitPlayer`: in a game.
 */
#define AMBIT_PLAYING 2

/**
 * A state of `AmbitPlayer`: the client has ended.
 */
#define AMBIT_CLOSED 4

/**
 * No value, for an optional field.
 */
#define AMBIT_FIELD_NONE 0

/**
 * A whole number.
 */
#define AMBIT_FIELD_NUMBER 1

/**
 * A decimal, in `x`; of an angle the radians.
 */
#define AMBIT_FIELD_DECIMAL 2

/**
 * A position.
 */
#define AMBIT_FIELD_POSITION 3

/**
 * An object, by its id.
 */
#define AMBIT_FIELD_OBJECT 4

/**
 * A text, or the name of a choice.
 */
#define AMBIT_FIELD_TEXT 5

/**
 * Yes or no.
 */
#define AMBIT_FIELD_FLAG 6

/**
 * For `ambit_find`: a kind of objects.
 */
#define AMBIT_KIND 1

/**
 * For `ambit_find`: a component, of the kind with the index `parent`.
 */
#define AMBIT_COMPONENT 2

/**
 * For `ambit_find`: an event.
 */
#define AMBIT_EVENT 3

/**
 * For `ambit_find`: a command.
 */
#define AMBIT_COMMAND 4

/**
 * For `ambit_find`: a field, of the command with the index `parent`.
 */
#define AMBIT_COMMAND_FIELD 5

/**
 * For `ambit_find`: a control, held or an axis.
 */
#define AMBIT_CONTROL 6

/**
 * For `ambit_find`: a refusal.
 */
#define AMBIT_REFUSAL 7

/**
 * For `ambit_describe`: what the game declares: kinds with components and looks, events, commands
 * with fields, controls.
 */
#define AMBIT_SCHEMA 1

/**
 * For `ambit_describe`: the local lag, the tick rate, the size of the map and of the zones.
 */
#define AMBIT_RULES 2

/**
 * For `ambit_describe`: all counters.
 */
#define AMBIT_COUNTERS 3

/**
 * What a call returns. All above [`Status::Nothing`] are errors: `ambit_last_error` has the text.
 */
enum AmbitStatus
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * Done.
   */
  AMBIT_STATUS_OK = 0,
  /**
   * There is nothing: no event, no game, no item of this name.
   */
  AMBIT_STATUS_NOTHING = 1,
  /**
   * No client has this handle: it was closed, or never started.
   */
  AMBIT_STATUS_NO_CLIENT = 16,
  /**
   * Another thread is calling this client. One thread at a time may.
   */
  AMBIT_STATUS_BUSY = 17,
  /**
   * A pointer is null or not aligned.
   */
  AMBIT_STATUS_BAD_POINTER = 18,
  /**
   * A length is larger than what it may be.
   */
  AMBIT_STATUS_BAD_LENGTH = 19,
  /**
   * A text is not UTF-8.
   */
  AMBIT_STATUS_BAD_TEXT = 20,
  /**
   * The `size` of a structure is none that this library knows.
   */
  AMBIT_STATUS_BAD_SIZE = 21,
  /**
   * The caller was compiled for another version of this interface.
   */
  AMBIT_STATUS_OTHER_VERSION = 22,
  /**
   * A setting, a request or an argument cannot be read, or does not exist.
   */
  AMBIT_STATUS_BAD_OPTION = 23,
  /**
   * A function that steers needs a client that its caller drives.
   */
  AMBIT_STATUS_WRONG_MODE = 24,
  /**
   * More than a second has passed since `ambit_poll` or `ambit_frame`; the call did nothing.
   * The next one works again.
   */
  AMBIT_STATUS_NOT_POLLED = 25,
  /**
   * There are too many: clients, functions that steer, or requests without an answer.
   */
  AMBIT_STATUS_TOO_MANY = 26,
  /**
   * The connection is closed for good.
   */
  AMBIT_STATUS_CLOSED = 27,
  /**
   * The player is in no game.
   */
  AMBIT_STATUS_NOT_PLAYING = 28,
  /**
   * The game or the client's core refused it; the code of `ambit_last_error` says why.
   */
  AMBIT_STATUS_REFUSED = 29,
  /**
   * The system refused something: a thread, a file, a socket.
   */
  AMBIT_STATUS_FAILED = 30,
  /**
   * The library has a fault. The client is closed.
   */
  AMBIT_STATUS_PANICKED = 31,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum AmbitStatus AmbitStatus;
#else
typedef uint32_t AmbitStatus;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * A text, in UTF-8. There is no zero at its end.
 */
typedef struct {
  /**
   * Its bytes; may be null if there are none.
   */
  const uint8_t *text;
  /**
   * How many.
   */
  uint64_t length;
} AmbitText;

/**
 * How to start a client. Set all of it to zero, then `size`, `interface_version` and `server`.
 */
typedef struct {
  /**
   * `sizeof(AmbitOptions)`.
   */
  uint32_t size;
  /**
   * `AMBIT_INTERFACE_VERSION`.
   */
  uint32_t interface_version;
  /**
   * `AMBIT_CALLER_DRIVEN`, `AMBIT_OBJECT_EVENTS`, or both.
   */
  uint32_t flags;
  /**
   * 0.
   */
  uint32_t reserved;
  /**
   * `HOST:PORT`; of a cluster several, with commas between them.
   */
  AmbitText server;
  /**
   * A JSON object, or nothing: `name`, `reconnect_for_ms`, `render` (`"room"`, `"100ms"`,
   * `"adaptive"`), `predict`, `coding`, `input_hz`, and how the player signs in, of which one:
   * `account` (`"device"`, or a file: made if it is missing, a copy is the same account),
   * `password` (`{"login", "password", "is_new"}`) or `token`; for trying things out `impair`
   * (`"loss=5,delay=40ms"`).
   */
  AmbitText settings;
  /**
   * The SHA-256 of the server's certificate, exactly 32 bytes, or null: then the certificate
   * of the first contact is trusted, as ssh does.
   */
  const uint8_t *certificate;
  /**
   * The file of the trusted certificates; nothing for that of the user.
   */
  AmbitText known_hosts;
  /**
   * The token of an earlier session, or nothing: `AmbitPlayer`.
   */
  const uint8_t *resume_token;
  /**
   * Its length in bytes.
   */
  uint64_t resume_token_length;
} AmbitOptions;

/**
 * An event of the lobby or of the game. The texts stay until the next `ambit_next_event` or
 * `ambit_close` of this client.
 */
typedef struct {
  /**
   * `sizeof(AmbitEvent)`, set by the caller.
   */
  uint32_t size;
  /**
   * `AMBIT_OF_LOBBY` or `AMBIT_OF_GAME`.
   */
  uint32_t of;
  /**
   * The number of the request that it answers, or 0.
   */
  uint64_t request;
  /**
   * What happened: `welcome`, `rooms`, `started`, `event`, `error`...
   */
  AmbitText name;
  /**
   * All of it, as JSON.
   */
  AmbitText json;
} AmbitEvent;

/**
 * The value of a field of a command.
 */
typedef struct {
  /**
   * `AMBIT_FIELD_*`.
   */
  uint32_t kind;
  /**
   * 0.
   */
  uint32_t reserved;
  /**
   * A whole number, the id of an object, or 1 and 0 of a flag.
   */
  int64_t number;
  /**
   * A position in metres (x to the east, y to the north, z up), or a decimal in `x`.
   */
  float x;
  /**
   * See `x`.
   */
  float y;
  /**
   * See `x`.
   */
  float z;
  /**
   * 0.
   */
  uint32_t reserved_too;
  /**
   * A text, or the name of a choice.
   */
  AmbitText text;
} AmbitField;

/**
 * An object. Of a room-wide one, transform, velocities and age mean nothing.
 */
typedef struct {
  /**
   * x to the east, y to the north, z up, in metres.
   */
  float position[3];
  /**
   * A unit quaternion: x, y, z, w.
   */
  float rotation[4];
  /**
   * In metres a second; zero if the game does not send it.
   */
  float velocity[3];
  /**
   * About the axes of the world, in radians a second; zero if the game does not send it.
   */
  float angular_velocity[3];
  /**
   * How old the newest data about it is, in milliseconds; NaN if unknown.
   */
  float age_ms;
  /**
   * The client's number of it, never reused.
   */
  uint32_t id;
  /**
   * The index of its kind in the schema.
   */
  uint32_t kind;
  /**
   * [`FLAG_OWN`] and [`FLAG_MOVES`].
   */
  uint32_t flags;
  /**
   * The index of the value of its first component; the others follow.
   */
  uint32_t first_value;
} AmbitObject;

/**
 * The value of a component.
 *
 * That of a gauge, 0 or 1 for a flag, a number (exact to 2^53), or the number of a text
 * ([`TextTable`]); counts are a text, too: JSON pairs of an index and a count. So are rows, each a
 * JSON list of its values (of a choice the index, of a position x, y and z), and bytes, as
 * hexadecimal digits. NaN if it is not known, or if it is the object's place.
 */
typedef struct {
  /**
   * The value.
   */
  double value;
  /**
   * How fast a gauge changes, a second; otherwise NaN.
   */
  double rate;
  /**
   * The maximum of a gauge; otherwise NaN.
   */
  double max;
} AmbitValue;

/**
 * What is in sight at one time. The arrays stay as they are until the next `ambit_frame` or
 * `ambit_close` of this client.
 */
typedef struct {
  /**
   * `sizeof(AmbitFrame)`, set by the caller.
   */
  uint32_t size;
  /**
   * How many of the objects are in sight; the room-wide ones follow.
   */
  uint32_t in_sight;
  /**
   * The room time that it shows, in microseconds; -1 without a game.
   */
  int64_t time_us;
  /**
   * All objects: those in sight, then the room-wide ones, both by ascending ids.
   */
  const AmbitObject *objects;
  /**
   * The values of their components, by `first_value`.
   */
  const AmbitValue *values;
  /**
   * The ids of the objects that were not in the frame before, in the order of `objects`. After
   * the death of a host all objects have new ids.
   */
  const uint32_t *came;
  /**
   * The ids of those that are not any more.
   */
  const uint32_t *went;
  /**
   * Length of `objects`.
   */
  uint32_t object_count;
  /**
   * Length of `values`.
   */
  uint32_t value_count;
  /**
   * Length of `came`.
   */
  uint32_t came_count;
  /**
   * Length of `went`.
   */
  uint32_t went_count;
  /**
   * The index of the player's avatar, or `AMBIT_NONE`.
   */
  uint32_t avatar;
  /**
   * 0.
   */
  uint32_t reserved;
} AmbitFrame;

/**
 * Who the player is. The texts stay until the next `ambit_player` or `ambit_close`.
 */
typedef struct {
  /**
   * `sizeof(AmbitPlayer)`, set by the caller.
   */
  uint32_t size;
  /**
   * `AMBIT_CONNECTED` while the lobby answers, `AMBIT_PLAYING` in a game, `AMBIT_CLOSED` once
   * the client has ended.
   */
  uint32_t state;
  /**
   * The number in the lobby, or 0.
   */
  uint64_t player;
  /**
   * The room, or 0.
   */
  uint64_t room;
  /**
   * The name in use.
   */
  AmbitText name;
  /**
   * Secret: it resumes this session, perhaps in another process.
   */
  const uint8_t *resume_token;
  /**
   * Its length in bytes.
   */
  uint64_t resume_token_length;
} AmbitPlayer;

/**
 * Counters since the start, and the line as it is now. What is not known is NaN.
 */
typedef struct {
  /**
   * `sizeof(AmbitStatistics)`, set by the caller.
   */
  uint32_t size;
  /**
   * 0.
   */
  uint32_t reserved;
  /**
   * The estimated room time now, in microseconds; -1 without a game.
   */
  int64_t room_time_us;
  /**
   * Round trip to the game's host, in milliseconds.
   */
  double round_trip_ms;
  /**
   * How unevenly datagrams arrive, in milliseconds.
   */
  double jitter_ms;
  /**
   * How far behind room time other objects are shown, in milliseconds.
   */
  double shown_behind_ms;
  /**
   * How long nothing new has arrived, in milliseconds.
   */
  double silence_ms;
  /**
   * Share of the host's datagrams that did not arrive.
   */
  double loss;
  /**
   * Share of updates and events that came after their time.
   */
  double late_share;
  /**
   * Datagrams received from hosts.
   */
  uint64_t datagrams_down;
  /**
   * Datagrams sent to hosts.
   */
  uint64_t datagrams_up;
  /**
   * Bytes of all sockets: UDP payload received.
   */
  uint64_t bytes_down;
  /**
   * Bytes of all sockets: UDP payload sent.
   */
  uint64_t bytes_up;
  /**
   * Commands sent.
   */
  uint64_t commands;
  /**
   * Commands that the host has confirmed.
   */
  uint64_t confirmed;
  /**
   * Commands that were refused.
   */
  uint64_t refused;
} AmbitStatistics;

/**
 * Why a call did nothing. The texts stay until the next call of this thread.
 */
typedef struct {
  /**
   * `sizeof(AmbitError)`, set by the caller.
   */
  uint32_t size;
  /**
   * What the call returned.
   */
  uint32_t status;
  /**
   * A stable code.
   */
  AmbitText code;
  /**
   * What happened, what was expected, and what to do.
   */
  AmbitText message;
} AmbitError;

/**
 * Where an avatar is and how it moves, for functions that steer.
 */
typedef struct {
  /**
   * In metres: x to the east, y to the north, z up.
   */
  float position[3];
  /**
   * The heading in radians, from x towards y.
   */
  float yaw;
  /**
   * In metres a second.
   */
  float velocity[3];
} AmbitMovement;

/**
 * What is held while an avatar is steered.
 */
typedef struct {
  /**
   * One bit for each control of the game, in their order.
   */
  uint32_t keys;
  /**
   * The axes of the game in their order, in steps: a lever has 127 from 0 to 1, an angle 256 a
   * turn.
   */
  int8_t axes[4];
} AmbitHeld;

/**
 * Moves an avatar on by `seconds`. It must be pure: the same input gives the same output.
 * `user` is what was given to `ambit_steer`; `terrain` is for `ambit_terrain_*` and ends with the
 * call.
 */
typedef void (*AmbitSteer)(void *user,
                           AmbitMovement *movement,
                           const AmbitHeld *held,
                           const void *terrain,
                           float seconds);

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The version of the library's interface: to be compared with `AMBIT_INTERFACE_VERSION`.
 */
uint32_t ambit_interface_version(void);

/**
 * For bindings of other languages, to check their structures: where the field with the index
 * `field` begins in a structure; after the last one, the size of the structure; then `AMBIT_NONE`.
 * `structure` is 0 `AmbitOptions`, 1 `AmbitFrame`, 2 `AmbitEvent`, 3 `AmbitPlayer`,
 * 4 `AmbitStatistics`, 5 `AmbitError`, 6 `AmbitObject`, 7 `AmbitValue`, 8 `AmbitField`,
 * 9 `AmbitMovement`, 10 `AmbitHeld`, 11 `AmbitText`.
 */
uint32_t ambit_layout(uint32_t structure, uint32_t field);

/**
 * Starts a client, which connects at once and reconnects by itself: through broken lines, lost
 * hosts and gates the handle stays the same. `client` gets the handle; call `ambit_close` with it.
 * Whether the server was reached says an event: `welcome` or `closed`.
 */
AmbitStatus ambit_start(const AmbitOptions *options, uint64_t *client);

/**
 * Leaves game, room and lobby, waits at most `wait_ms` until the connection is drained, and ends
 * the client. The server mostly knows sooner: 50 ms are enough on a good line. All memory that
 * the client has handed out is gone then, and its handle means nothing any more.
 */
AmbitStatus ambit_close(uint64_t client, uint32_t wait_ms);

/**
 * Waits at most `wait_ms` for an event; 0 does not wait. For a client that its caller drives, it
 * also sends and receives: call it, or `ambit_frame`, at least ten times a second.
 */
AmbitStatus ambit_poll(uint64_t client, uint32_t wait_ms);

/**
 * The time of the client's own clock, in microseconds since its start.
 */
AmbitStatus ambit_now(uint64_t client, uint64_t *now_us);

/**
 * Sends a request to the lobby, in JSON: `"leave_room"`, `"start_room"`,
 * `{"list_rooms": {"subscribe": false}}`, `{"create_room": {"name": "a", "game": "field"}}`,
 * `{"join_room": {"room": 7, "password": ""}}`, `{"set_ready": true}`,
 * `{"list_players": {"everybody": true}}`, `{"describe_game": {"game": "field"}}`,
 * `{"set_name": "ann"}`, `{"say": {"to": "room", "text": "hello"}}` (to `"lobby"`, `"room"`,
 * `{"player": 3}` or `{"player_named": "ann"}`), `{"kick": 3}`. `number` gets the number that the
 * event with the answer will have.
 */
AmbitStatus ambit_request(uint64_t client,
                          const uint8_t *request,
                          uint64_t length,
                          uint64_t *number);

/**
 * The next event, in the order in which they happened; `AMBIT_STATUS_NOTHING` if there is none.
 */
AmbitStatus ambit_next_event(uint64_t client, AmbitEvent *event);

/**
 * Gives a command by its name, with its values as a JSON list: `[[120, 90]]`, `["bolt", null, 7]`.
 * `number` gets its number, which the events `confirmed` and `refused` have, too.
 */
AmbitStatus ambit_send(uint64_t client,
                       const uint8_t *name,
                       uint64_t name_length,
                       const uint8_t *values,
                       uint64_t values_length,
                       uint32_t *number);

/**
 * Gives a command by its index in the schema (`ambit_find`), with the values of its fields in
 * order; those at the end may be left out if they are optional.
 */
AmbitStatus ambit_send_fields(uint64_t client,
                              uint32_t command,
                              const AmbitField *fields,
                              uint64_t count,
                              uint32_t *number);

/**
 * Holds these controls, one bit each in the order of the schema, and releases all others. A press
 * that is shorter than a frame counts, too. While a game is restored, what is held when it goes on
 * counts; without a game it is `AMBIT_STATUS_NOT_PLAYING`.
 */
AmbitStatus ambit_hold(uint64_t client, uint32_t keys);

/**
 * Moves an axis, by its index among the controls: -1 to 1, or for an angle radians
 * counter-clockwise from the east. It stays there.
 */
AmbitStatus ambit_set_axis(uint64_t client, uint32_t control, float value);

/**
 * Fills `frame` with what is in sight at `at_us` of the client's clock (`ambit_now`), which may
 * lie up to 100 ms ahead; 0 stands for now. It never waits, and allocates nothing once its arrays
 * are large enough. One call a frame of the engine is enough: all objects are of one time.
 */
AmbitStatus ambit_frame(uint64_t client, uint64_t at_us, AmbitFrame *frame);

/**
 * The text with the number that a value of a frame has. It stays until the next `ambit_frame`.
 */
AmbitStatus ambit_text(uint64_t client, uint32_t number, AmbitText *text);

/**
 * The index of a name in the schema of the game: `what` is `AMBIT_KIND`, `AMBIT_COMPONENT`...
 * `AMBIT_STATUS_NOTHING` without a game, or if it has no such item.
 */
AmbitStatus ambit_find(uint64_t client,
                       uint32_t what,
                       uint32_t parent,
                       const uint8_t *name,
                       uint64_t length,
                       uint32_t *index);

/**
 * The name of the item with this index, the reverse of `ambit_find`; `AMBIT_STATUS_NOTHING` after
 * the last one. It stays until the next call of this function.
 */
AmbitStatus ambit_name(uint64_t client,
                       uint32_t what,
                       uint32_t parent,
                       uint32_t index,
                       AmbitText *name);

/**
 * What a game declares (`AMBIT_SCHEMA`), how its room runs (`AMBIT_RULES`), or all counters
 * (`AMBIT_COUNTERS`), as JSON. It stays until the next call of this function. Without a game there
 * is `AMBIT_STATUS_NOTHING`.
 */
AmbitStatus ambit_describe(uint64_t client, uint32_t what, AmbitText *json);

/**
 * The obstacles that are known: the static map, once it has come, and what objects in sight have
 * (event `map`). 9 numbers for each: the centre (x, y, z), half of the extents, the turn in
 * radians, 1 if it is round, its look or -1. It stays until the next call of this function.
 */
AmbitStatus ambit_map(uint64_t client, const float **numbers, uint64_t *count);

/**
 * Who the player is, and where.
 */
AmbitStatus ambit_player(uint64_t client, AmbitPlayer *player);

/**
 * Counters, and the line as it is now.
 */
AmbitStatus ambit_statistics(uint64_t client, AmbitStatistics *statistics);

/**
 * Why the last call of this thread that did not return `AMBIT_STATUS_OK` did nothing. Before the
 * first one, `AMBIT_STATUS_OK` without texts.
 */
AmbitStatus ambit_last_error(AmbitError *error);

/**
 * For a client that its caller drives: predicts the player's own avatar, of this kind in games of
 * this name, by `function`, so that a key moves it in the next frame. The function is called in
 * `ambit_frame`, `ambit_poll` and `ambit_next_event`, on their thread, with `user`; it must do the
 * same as the host's, and must not call this client. Another function for the same game replaces
 * it; null ends the prediction.
 */
AmbitStatus ambit_steer(uint64_t client,
                        const uint8_t *game,
                        uint64_t game_length,
                        const uint8_t *kind,
                        uint64_t kind_length,
                        AmbitSteer function,
                        void *user);

/**
 * For a function that steers: how far a body of this radius gets from `from` towards `to` (x, y, z
 * each) before it meets an obstacle or the border; `reached` gets the position.
 */
AmbitStatus ambit_terrain_stop(const void *terrain,
                               const float *from,
                               const float *to,
                               float radius,
                               float *reached);

/**
 * For a function that steers: the extent of the map on x and y, in metres.
 */
AmbitStatus ambit_terrain_size(const void *terrain, float *width_height);

/**
 * Logs from now on, for all clients of the process: 1 errors, 2 warnings, 3 what happens,
 * 4 details, 5 everything (in the packaged library the same as 4). Without this call nothing is
 * logged. The level stays as it is first set.
 */
AmbitStatus ambit_log(uint32_t level);

/**
 * Copies the oldest line of the log into `line`, which has room for `room` bytes; `length` gets
 * the length of the whole line, `dropped` how many lines were dropped before it. At most 1,024
 * lines wait.
 */
AmbitStatus ambit_next_log(uint8_t *line, uint64_t room, uint64_t *length, uint64_t *dropped);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* AMBIT_CLIENT_H */
