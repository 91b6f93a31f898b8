/* Joins a game, walks about and prints what is seen:
 *
 *     cc -std=c11 -I include examples/c/walk.c -L PATH -lambit_client -o walk
 *     ./walk 127.0.0.1:7777 field 10
 *
 * Without a room number it creates a room of the game and starts it; with one it joins that room.
 * AMBIT_PRINT=json prints a line of JSON each second; AMBIT_IMPAIR=loss=5 makes the line bad.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _WIN32 /* MinGW has no threads.h. */
#include <windows.h>
#else
#include <threads.h>
#include <time.h>
#endif

#include "ambit_client.h"

#define AS_TEXT(it) (int)(it).length, (const char *)(it).text /* For "%.*s". */

static uint64_t client;
static unsigned came, went; /* Since the last line that was printed. */

static void wait_for_next_frame(void) {
#ifdef _WIN32
    Sleep(16);
#else
    thrd_sleep(&(struct timespec){.tv_nsec = 16666667}, NULL);
#endif
}

/* Prints what went wrong, and ends. */
static void check(AmbitStatus status, const char *what) {
    if (status <= AMBIT_STATUS_NOTHING) return;
    AmbitError error = {.size = sizeof error};
    ambit_last_error(&error);
    fprintf(stderr, "%s: %.*s (%.*s)\n", what, AS_TEXT(error.message), AS_TEXT(error.code));
    if (client != 0) ambit_close(client, 1000);
    exit(1);
}

static int is(AmbitText text, const char *word) {
    return text.length == strlen(word) && memcmp(text.text, word, text.length) == 0;
}

static void request(const char *json) {
    uint64_t number = 0;
    check(ambit_request(client, (const uint8_t *)json, strlen(json), &number), json);
}

static int find(uint32_t what, const char *name, uint32_t *index) {
    const uint8_t *text = (const uint8_t *)name;
    return ambit_find(client, what, 0, text, strlen(name), index) == AMBIT_STATUS_OK;
}

/* Walks to a place near, another one with each call. The map may end there: the next leads back.
 * In a game of ships it flies on, in a curve with each second call. */
static void walk(const AmbitFrame *frame, unsigned step) {
    static const float ways[4][2] = {{6, 0}, {0, 6}, {-6, 0}, {0, -6}};
    uint32_t command, number, on, left;
    if (find(AMBIT_CONTROL, "accelerate", &on) && find(AMBIT_CONTROL, "turn-left", &left)) {
        ambit_hold(client, 1u << on | (step % 2) << left);
    }
    if (frame->avatar == AMBIT_NONE || !find(AMBIT_COMMAND, "move", &command)) return;
    const AmbitObject *own = &frame->objects[frame->avatar];
    AmbitField to = {.kind = AMBIT_FIELD_POSITION,
                     .x = own->position[0] + ways[step % 4][0],
                     .y = own->position[1] + ways[step % 4][1]};
    ambit_send_fields(client, command, &to, 1, &number);
}

static void print(const AmbitFrame *frame, unsigned long long room) {
    printf("%.1f s in room %llu: %u in sight, %u came, %u went\n", (double)frame->time_us / 1e6,
           room, frame->in_sight, came, went);
    for (uint32_t index = 0; index < frame->in_sight; ++index) {
        const AmbitObject *object = &frame->objects[index];
        printf("  #%u kind %u at %.2f %.2f%s\n", object->id, object->kind, object->position[0],
               object->position[1], (object->flags & AMBIT_OWN) != 0 ? " (own)" : "");
    }
}

static void print_json(const AmbitFrame *frame, unsigned long long room) {
    printf("{\"time_us\": %lld, \"room\": %llu, \"objects\": [", (long long)frame->time_us, room);
    for (uint32_t index = 0; index < frame->in_sight; ++index) {
        const AmbitObject *object = &frame->objects[index];
        printf("%s[%u, %u, %.3f, %.3f]", index == 0 ? "" : ", ", object->id, object->kind,
               object->position[0], object->position[1]);
    }
    const AmbitObject *own = frame->avatar == AMBIT_NONE ? NULL : &frame->objects[frame->avatar];
    if (own == NULL) printf("], \"own\": null}\n");
    else printf("], \"own\": [%u, %.3f, %.3f]}\n", own->id, own->position[0], own->position[1]);
}

/* Handles what has happened; false when it is over. */
static int handle_events(const char *game, const char *room) {
    AmbitEvent event = {.size = sizeof event};
    AmbitPlayer player = {.size = sizeof player};
    while (ambit_next_event(client, &event) == AMBIT_STATUS_OK) {
        char json[256];
        /* It comes again after a break, perhaps in the room as before. */
        if (is(event.name, "welcome")) {
            check(ambit_player(client, &player), "player");
            if (player.room != 0) continue;
            snprintf(json, sizeof json,
                     room == NULL ? "{\"create_room\": {\"name\": \"from C\", \"game\": \"%s\"}}"
                                  : "{\"join_room\": {\"room\": %s}}",
                     room == NULL ? game : room);
            request(json);
        } else if (is(event.name, "created")) {
            request("\"start_room\"");
        } else if (is(event.name, "error") || is(event.name, "closed")) {
            fprintf(stderr, "%.*s\n", AS_TEXT(event.json));
            if (is(event.name, "closed")) return 0;
        }
    }
    return 1;
}

int main(int count, char **words) {
    if (count < 4) {
        fprintf(stderr, "usage: %s HOST:PORT GAME SECONDS [ROOM]\n", words[0]);
        return 2;
    }
    char settings[128] = "";
    const char *impair = getenv("AMBIT_IMPAIR");
    if (impair != NULL) snprintf(settings, sizeof settings, "{\"impair\": \"%s\"}", impair);
    AmbitOptions options = {.size = sizeof options,
                            .interface_version = AMBIT_INTERFACE_VERSION,
                            .server = {(const uint8_t *)words[1], strlen(words[1])},
                            .settings = {(const uint8_t *)settings, strlen(settings)}};
    check(ambit_start(&options, &client), "start");
    const unsigned frames = 60 * (unsigned)atoi(words[3]);
    AmbitFrame frame = {.size = sizeof frame};
    AmbitPlayer player = {.size = sizeof player};
    const int as_json = getenv("AMBIT_PRINT") != NULL;
    int goes_on = 1;
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    for (unsigned number = 0; goes_on && number < frames; ++number) {
        goes_on = handle_events(words[2], count > 4 ? words[4] : NULL);
        check(ambit_frame(client, 0, &frame), "frame");
        came += frame.came_count;
        went += frame.went_count;
        if (number % 60 == 0 && frame.time_us >= 0) {
            check(ambit_player(client, &player), "player");
            (as_json ? print_json : print)(&frame, player.room);
            came = went = 0;
            walk(&frame, number / 60);
        }
        wait_for_next_frame();
    }
    check(ambit_close(client, 1000), "close");
    return goes_on ? 0 : 1;
}
