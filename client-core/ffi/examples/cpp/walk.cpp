// Joins a game, walks about and prints what is seen:
//
//     c++ -std=c++17 -I include -I cpp/include examples/cpp/walk.cpp -L PATH -lambit_client -o walk
//     ./walk 127.0.0.1:7777 field 10
//
// Without a room number it creates a room of the game and starts it; with one it joins that room.
// AMBIT_PRINT=json prints a line of JSON each second; AMBIT_IMPAIR=loss=5 makes the line bad.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "ambit/client.hpp"

namespace {

// Prints what went wrong, if it did.
template <typename T>
bool is_fine(const ambit::Result<T>& result, const char* what) {
    if (!result.is_error()) return true;
    std::fprintf(stderr, "%s: %s (%s)\n", what, result.message().c_str(), result.code().c_str());
    return false;
}

// Walks to a place near, another one with each call. The map may end there: the next leads back.
// In a game of ships it flies on, in a curve with each second call.
void walk(ambit::Client& client, const ambit::Frame& frame, unsigned step) {
    static constexpr float ways[4][2] = {{6, 0}, {0, 6}, {-6, 0}, {0, -6}};
    const AmbitObject* own = frame.avatar();
    const auto on = client.find(AMBIT_CONTROL, "accelerate");
    const auto left = client.find(AMBIT_CONTROL, "turn-left");
    if (on && left) is_fine(client.hold(1U << *on | (step % 2) << *left), "hold");
    const auto move = client.find(AMBIT_COMMAND, "move");
    if (own == nullptr || !move) return;
    const float* way = ways[step % 4];
    const auto to = ambit::field::position(own->position[0] + way[0], own->position[1] + way[1]);
    is_fine(client.send(*move, {to}), "move");
}

// How many objects came and went since the last line.
struct Counts {
    std::size_t came = 0;
    std::size_t went = 0;
};

void print(const ambit::Frame& frame, std::uint64_t room, Counts counts) {
    std::printf("%.1f s in room %llu: %zu in sight, %zu came, %zu went\n",
                static_cast<double>(frame.time_us()) / 1e6, static_cast<unsigned long long>(room),
                frame.in_sight().size(), counts.came, counts.went);
    for (const AmbitObject& object : frame.in_sight()) {
        std::printf("  #%u kind %u at %.2f %.2f%s\n", object.id, object.kind, object.position[0],
                    object.position[1], (object.flags & AMBIT_OWN) != 0 ? " (own)" : "");
    }
}

void print_json(const ambit::Frame& frame, std::uint64_t room) {
    std::printf("{\"time_us\": %lld, \"room\": %llu, \"objects\": [",
                static_cast<long long>(frame.time_us()), static_cast<unsigned long long>(room));
    const char* between = "";
    for (const AmbitObject& object : frame.in_sight()) {
        std::printf("%s[%u, %u, %.3f, %.3f]", between, object.id, object.kind, object.position[0],
                    object.position[1]);
        between = ", ";
    }
    if (const AmbitObject* own = frame.avatar()) {
        std::printf("], \"own\": [%u, %.3f, %.3f]}\n", own->id, own->position[0],
                    own->position[1]);
    } else {
        std::printf("], \"own\": null}\n");
    }
}

// Handles what has happened; false when it is over.
bool handle_events(ambit::Client& client, const char* game, const char* room) {
    bool goes_on = true;
    while (auto event = client.next_event()) {
        // It comes again after a break, perhaps in the room as before.
        const auto player = client.player();
        if (event->name == "welcome" && player && player->room != 0) continue;
        if (event->name == "welcome" && room == nullptr) {
            ambit::NewRoom wanted;
            wanted.name = "from C++";
            wanted.game = game;
            goes_on &= is_fine(client.create_room(wanted), "create");
        } else if (event->name == "welcome") {
            goes_on &= is_fine(client.join_room(std::strtoull(room, nullptr, 10)), "join");
        } else if (event->name == "created") {
            goes_on &= is_fine(client.start_room(), "start");
        } else if (event->name == "error" || event->name == "closed") {
            std::fprintf(stderr, "%s\n", std::string(event->json).c_str());
            goes_on &= event->name != "closed";
        }
    }
    return goes_on;
}

}  // namespace

int main(int count, char** words) {
    if (count < 4) {
        std::fprintf(stderr, "usage: %s HOST:PORT GAME SECONDS [ROOM]\n", words[0]);
        return 2;
    }
    const char* form = std::getenv("AMBIT_PRINT");
    const bool as_json = form != nullptr && std::strcmp(form, "json") == 0;
    std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
    ambit::Options options;
    options.server = words[1];
    if (const char* impair = std::getenv("AMBIT_IMPAIR")) options.impair = impair;
    auto client = ambit::Client::start(options);
    if (!is_fine(client, "start")) return 1;
    bool goes_on = true;
    Counts counts;
    const unsigned frames = 60 * static_cast<unsigned>(std::strtoul(words[3], nullptr, 10));
    auto next = std::chrono::steady_clock::now();
    for (unsigned number = 0; goes_on && number < frames; ++number) {
        goes_on = handle_events(*client, words[2], count > 4 ? words[4] : nullptr);
        const auto frame = client->frame();
        if (!is_fine(frame, "frame")) return 1;
        counts.came += frame->came().size();
        counts.went += frame->went().size();
        if (number % 60 == 0 && frame->has_game()) {
            const auto player = client->player();
            const std::uint64_t room = player ? player->room : 0;
            if (as_json) {
                print_json(*frame, room);
            } else {
                print(*frame, room, counts);
            }
            counts = Counts{};
            walk(*client, *frame, number / 60);
        }
        next += std::chrono::microseconds(16667);
        std::this_thread::sleep_until(next);
    }
    return is_fine(client->close(), "close") && goes_on ? 0 : 1;
}
