// What the header does without a server. Prints what is wrong; ends with 0 if all is right.
//
//     c++ -std=c++17 -I include -I cpp/include cpp/tests/checks.cpp -L PATH -lambit_client
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>

#include "ambit/client.hpp"

namespace {

int failures = 0;

void check(bool is_right, const char* what) {
    if (is_right) return;
    std::fprintf(stderr, "wrong: %s\n", what);
    ++failures;
}

void check_json() {
    using ambit::json_of;
    check(json_of("plain") == R"("plain")", "plain text");
    check(json_of("a\"b\\c") == R"("a\"b\\c")", "quotes and backslashes");
    check(json_of(std::string_view("\n\t\0\x1f\x7f", 5)) == "\"\\u000a\\u0009\\u0000\\u001f\x7f\"",
          "control characters");
    check(json_of("Zauberkr\xc3\xa4" "fte") == "\"Zauberkr\xc3\xa4" "fte\"", "UTF-8");
    check(json_of("") == R"("")", "no text");
}

void stay(void*, AmbitMovement*, const AmbitHeld*, const void*, float) {}

// Nothing listens there.
ambit::Result<ambit::Client> started(bool is_driven_by_caller) {
    ambit::Options options;
    options.server = "127.0.0.1:9";
    options.name = "an\"n\\";
    options.render = "50ms";
    options.predict = true;
    options.reconnect_for_ms = 10;
    options.is_driven_by_caller = is_driven_by_caller;
    options.certificate.emplace();
    return ambit::Client::start(options);
}

void check_client() {
    auto client = started(true);
    check(client.ok(), client.message().c_str());
    if (!client) return;
    const auto frame = client->frame();
    check(frame.ok() && !frame->has_game() && frame->avatar() == nullptr, "a frame without a game");
    check(frame->objects().empty() && frame->room_wide().empty(), "objects without a game");
    check(frame->find(1) == nullptr, "an object without a game");
    check(client->find(AMBIT_KIND, "avatar").is_nothing(), "a kind without a game");
    check(client->find(AMBIT_KIND, "avatar").code() == "nothing", "the code of nothing");
    check(!client->find(AMBIT_KIND, "avatar").message().empty(), "the text of nothing");
    check(client->name(AMBIT_KIND, 0).is_nothing(), "a name without a game");
    check(client->map().is_nothing(), "a map without a game");
    check(client->send("move", "[[1, 2]]").code() == "not_playing", "a command without a game");
    check(client->send(0, {ambit::field::text("x")}).is_error(), "fields without a game");
    check(client->request("{").status() == AMBIT_STATUS_BAD_OPTION, "a broken request");
    check(client->text(std::nan("")).is_nothing(), "the text of an unknown value");
    check(client->text(-1).is_nothing() && client->text(1e300).is_nothing(), "no text's number");
    ambit::NewRoom room = {"q\"\n", "field"};
    room.parameters = {{"npcs", "20"}, {"a\"b", "c\\"}};
    // Read as JSON; that the server cannot be reached is an event.
    check(client->create_room(room).ok(), "a room's request");
    check(client->join_room(7, "secret\"").ok() && client->leave_room().ok(), "joining");
    check(client->start_room().ok() && client->set_ready(true).ok(), "starting");
    check(client->list_rooms(true).ok() && client->list_players(true).ok(), "lists");
    check(client->describe_game("field").ok() && client->set_name("\"").ok(), "names");
    check(client->say_to_lobby("a\"").ok() && client->say_to_room("\\").ok(), "chat");
    check(client->say_to(3, "a").ok() && client->say_to("an\"n", "a").ok(), "chat to one");
    check(client->kick(3).ok(), "kicking");
    check(client->steer("fleet", "boat", stay).ok(), "a function that steers");
    ambit::Client moved = std::move(*client);
    check(client->handle() == 0 && client->frame().code() == "no_client", "a client moved away");
    check(moved.poll(1).ok(), "a moved client");
    moved = std::move(*started(false));
    check(moved.poll().status() == AMBIT_STATUS_OK, "polling what has a thread");
    check(moved.close(0).ok() && moved.frame().code() == "no_client", "a closed client");
    check(!moved.close(0).ok(), "closing twice");
}

void check_start() {
    ambit::Options options;
    check(ambit::Client::start(options).code() == "bad_option", "no server");
    options.server = "127.0.0.1:9";
    options.render = "never";
    const auto refused = ambit::Client::start(options);
    check(refused.code() == "bad_option", "a bad setting");
    check(refused.message().find("render") != std::string::npos, refused.message().c_str());
    options.render = "";
    // Of both, the one that is read last counts: what matters here is that they are read.
    options.account = "/dev/null/account";
    options.password = ambit::PasswordSignIn{"ann#1\"", "se\\cret", true};
    options.token = "e.y.J";
    check(ambit::Client::start(options).status() == AMBIT_STATUS_FAILED, "a file that cannot be");
    options.account.clear();
    check(ambit::Client::start(options).ok(), "a password and a token");
    options.server = "\xff";
    check(ambit::Client::start(options).status() == AMBIT_STATUS_BAD_TEXT, "no UTF-8");
}

}  // namespace

int main() {
    const auto fits = ambit::check_library();
    check(fits.ok(), fits.message().c_str());
    check_json();
    check_start();
    check_client();
    return failures == 0 ? 0 : 1;
}
