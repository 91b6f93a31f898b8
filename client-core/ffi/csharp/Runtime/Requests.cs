// Requests to the lobby. The answer is an event with the number of the request.

using System.Collections.Generic;

namespace Ambit
{
    public sealed unsafe partial class Client
    {
        /// <summary>The answer: `rooms`; with `subscribe` changes follow.</summary>
        public Sent ListRooms(bool subscribe = false)
        {
            Json json = Begin("list_rooms").Begin().Key("subscribe").Flag(subscribe).End();
            return Request(json);
        }

        /// <summary>The answer: `created`. The player is in the room then.</summary>
        public Sent CreateRoom(NewRoom room)
        {
            Json json = Begin("create_room").Begin();
            json.Key("name").Text(room.Name).Key("game").Text(room.Game);
            if (room.Capacity != 0)
            {
                json.Key("capacity").Number(room.Capacity);
            }
            if (room.Password != null)
            {
                json.Key("password").Text(room.Password);
            }
            if (room.Parameters != null)
            {
                json.Key("parameters").Begin();
                foreach (KeyValuePair<string, string> parameter in room.Parameters)
                {
                    json.Key(parameter.Key).Text(parameter.Value);
                }
                json.End();
            }
            return Request(json.End());
        }

        /// <summary>The answer: `joined`. If the room runs, the game begins.</summary>
        public Sent JoinRoom(ulong room, string password = "")
        {
            Json json = Begin("join_room").Begin();
            return Request(json.Key("room").Number(room).Key("password").Text(password).End());
        }

        public Sent LeaveRoom()
        {
            return Request("\"leave_room\"");
        }

        /// <summary>For the player who has created it.</summary>
        public Sent StartRoom()
        {
            return Request("\"start_room\"");
        }

        public Sent SetReady(bool ready)
        {
            return Request(Begin("set_ready").Flag(ready));
        }

        /// <summary>Of the lobby, or of the room alone. The answer: `players`.</summary>
        public Sent ListPlayers(bool ofLobby)
        {
            Json json = Begin("list_players").Begin().Key("everybody").Flag(ofLobby).End();
            return Request(json);
        }

        /// <summary>The answer: `game`, with its parameters and its schema.</summary>
        public Sent DescribeGame(string game)
        {
            return Request(Begin("describe_game").Begin().Key("game").Text(game).End());
        }

        public Sent SetName(string name)
        {
            return Request(Begin("set_name").Text(name));
        }

        public Sent SayInLobby(string text)
        {
            return Request(BeginSaying().Text("lobby").Key("text").Text(text).End());
        }

        public Sent SayInRoom(string text)
        {
            return Request(BeginSaying().Text("room").Key("text").Text(text).End());
        }

        public Sent SayTo(ulong player, string text)
        {
            Json to = BeginSaying().Begin().Key("player").Number(player).End();
            return Request(to.Key("text").Text(text).End());
        }

        public Sent SayTo(string playerName, string text)
        {
            Json to = BeginSaying().Begin().Key("player_named").Text(playerName).End();
            return Request(to.Key("text").Text(text).End());
        }

        /// <summary>For the player who has created the room.</summary>
        public Sent Kick(ulong player)
        {
            return Request(Begin("kick").Number(player));
        }

        /// <summary>Any request, as JSON: see `ambit_request` in the header.</summary>
        public Sent Request(string json)
        {
            byte[] bytes = Utf8.Bytes(json);
            ulong number = 0;
            fixed (byte* at = bytes)
            {
                Status status = Done(Native.ambit_request(
                    handle.Number, at, (ulong)bytes.Length, &number));
                return new Sent(status, number);
            }
        }

        private Sent Request(Json json)
        {
            return Request(json.End().ToString());
        }

        private static Json Begin(string name)
        {
            return new Json().Begin().Key(name);
        }

        private static Json BeginSaying()
        {
            return Begin("say").Begin().Key("to");
        }
    }
}
