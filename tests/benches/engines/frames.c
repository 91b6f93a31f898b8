/* Measures frames, as `Frames.cs` does. Arguments: HOST:PORT ROOM. For each line that comes in, it
 * prints what is in sight, and the nanoseconds of one frame. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ambit_client.h"

static long long now_ns(void) {
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int main(int count, char **words) {
    uint64_t client, number;
    char line[16], join[64];
    if (count != 3) return 2;
    AmbitOptions options = {.size = sizeof options,
                            .interface_version = AMBIT_INTERFACE_VERSION,
                            .server = {(const uint8_t *)words[1], strlen(words[1])}};
    if (ambit_start(&options, &client) != AMBIT_STATUS_OK) return 1;
    snprintf(join, sizeof join, "{\"join_room\": {\"room\": %s}}", words[2]);
    ambit_request(client, (const uint8_t *)join, strlen(join), &number);
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    while (fgets(line, sizeof line, stdin) != NULL) {
        AmbitEvent event = {.size = sizeof event};
        while (ambit_next_event(client, &event) == AMBIT_STATUS_OK) {
        }
        AmbitFrame frame = {.size = sizeof frame};
        long long before = now_ns();
        AmbitStatus status = ambit_frame(client, 0, &frame);
        long long after = now_ns();
        if (status > AMBIT_STATUS_NOTHING) return 1;
        printf("%u %lld\n", frame.in_sight, after - before);
    }
    return ambit_close(client, 1000) == AMBIT_STATUS_OK ? 0 : 1;
}
