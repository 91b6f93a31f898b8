/* Plays through the death of its host, and has nothing to say: neither does the library, not even
 * in its log, which is empty until it is asked for.
 *
 *     says_nothing HOST:PORT
 *
 * Returns 0, or the number of the step that failed. */
#include <stdio.h>
#include <string.h>
#include <threads.h>
#include <time.h>

#include "ambit_client.h"

#define FRAMES (60 * 60) /* A minute. */

static uint64_t client;
static unsigned games; /* How often a game has begun or gone on. */

static AmbitText text(const char *words) {
    return (AmbitText){(const uint8_t *)words, strlen(words)};
}

static int is(AmbitText text, const char *word) {
    return text.length == strlen(word) && memcmp(text.text, word, text.length) == 0;
}

static uint64_t start(const char *server) {
    uint64_t started = 0;
    AmbitOptions options = {.size = sizeof options,
                            .interface_version = AMBIT_INTERFACE_VERSION,
                            .server = text(server)};
    ambit_start(&options, &started);
    return started;
}

static void request(const char *json) {
    uint64_t number = 0;
    ambit_request(client, (const uint8_t *)json, strlen(json), &number);
}

static int has_log(void) {
    uint8_t line[256];
    uint64_t length = 0, dropped = 0;
    return ambit_next_log(line, sizeof line, &length, &dropped) != AMBIT_STATUS_NOTHING;
}

/* A picture of a game; false after a minute of them. */
static int play(void) {
    static unsigned frames;
    AmbitEvent event = {.size = sizeof event};
    AmbitFrame frame = {.size = sizeof frame};
    while (ambit_next_event(client, &event) == AMBIT_STATUS_OK) {
        if (is(event.name, "welcome")) {
            request("{\"create_room\": {\"name\": \"still\", \"game\": \"field\"}}");
        } else if (is(event.name, "created")) {
            request("\"start_room\"");
        } else if (is(event.name, "started")) {
            ++games;
        }
    }
    ambit_frame(client, 0, &frame);
    thrd_sleep(&(struct timespec){.tv_nsec = 16666667}, NULL);
    return ++frames < FRAMES;
}

int main(int count, char **words) {
    if (count < 2) return 1;
    client = start(words[1]);
    if (client == 0) return 2;
    while (games < 2 && play()) {
        if (has_log()) return 3;
    }
    if (games < 2) return 4;
    /* What fails is no line of the log either: nobody listens there. */
    uint64_t other = start("127.0.0.1:9");
    AmbitEvent event = {.size = sizeof event};
    int has_failed = 0;
    while (!has_failed && play()) {
        while (ambit_next_event(other, &event) == AMBIT_STATUS_OK) {
            has_failed |= is(event.name, "interrupted") || is(event.name, "closed");
        }
        if (has_log()) return 5;
    }
    if (!has_failed) return 6;
    ambit_close(other, 0);
    /* With the log there is something to read. */
    if (ambit_log(5) != AMBIT_STATUS_OK) return 7;
    while (!has_log()) {
        if (!play()) return 8;
    }
    return ambit_close(client, 1000) == AMBIT_STATUS_OK ? 0 : 9;
}
