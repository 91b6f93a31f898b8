// The package for engines in a page (Unity, Godot), whose code neither waits for promises nor keeps
// objects of JavaScript: flat calls with numbers, JSON and one array. Put it beside `ambit.js`, and
// load it before the engine: `<script type="module" src="ambit-bridge.js"></script>`.
//
// Requests are those of `ambit_request` of the C interface; their answers are events, in the order
// in which they come: `{"of", "request", "event"}`.
import { connect } from "./ambit.js";

/** Numbers of an object in a frame: id, kind, 1 if it is the player's own, x, y, z, heading. */
const NUMBERS = 7;

class BridgedClient {
  events = [];
  frame = new Float64Array(0);
  #client;
  #room;
  #game;
  #requests = 0;

  constructor(options) {
    connect(options).then(
      (client) => {
        this.#client = client;
        const { player, name, account = null } = client;
        this.#tell(0, { ev: "welcome", player, name, account });
        if (client.room) this.#enter(client.room);
      },
      (error) => this.#tell(0, { ev: "closed", ...plain(error) }),
    );
  }

  request(request) {
    this.#requests += 1;
    const number = this.#requests;
    const [name, body] = typeof request === "string" ? [request] : Object.entries(request)[0];
    this.#answer(name, body ?? {}).then(
      (event) => this.#tell(number, event),
      (error) => this.#tell(number, { ev: "error", ...plain(error) }),
    );
    return number;
  }

  async #answer(name, body) {
    const client = this.#client;
    if (!client) throw { code: "closed", message: "the client is not connected" };
    switch (name) {
      case "create_room": {
        const { name: title, game, ...settings } = body;
        this.#room = await client.createRoom(title, game, settings);
        return { ev: "created", room: this.#room.id };
      }
      case "join_room": {
        const room = await client.joinRoom(body.room, body);
        this.#enter(room);
        return { ev: "joined", room: room.id };
      }
      case "start_room":
        if (!this.#room) throw { code: "not_in_room", message: "the player is in no room" };
        this.#begin(await this.#room.start());
        return { ev: "done" };
      case "leave_room":
        await this.#room?.leave();
        this.#room = this.#game = undefined;
        return { ev: "left" };
      case "list_rooms":
        return { ev: "rooms", rooms: await client.watchRooms(body.subscribe) };
      case "list_players":
        return { ev: "players", players: await client.players() };
      case "describe_game":
        return { ev: "game", ...(await client.describeGame(body.game)) };
      case "set_name":
        return { ev: "renamed", name: await client.rename(body) };
      case "set_ready":
        await this.#room?.setReady(body);
        return { ev: "done" };
      case "kick":
        await this.#room?.kick(body);
        return { ev: "done" };
      case "say":
        if (body.to === "lobby") await client.say(body.text);
        else if (body.to === "room") await this.#room?.say(body.text);
        else await client.whisper(body.to.player_named, body.text);
        return { ev: "done" };
      default:
        throw { code: "bad_option", message: `no request is called '${name}'` };
    }
  }

  /** Plays in a room as soon as it runs. */
  #enter(room) {
    this.#room = room;
    room.play().then(
      (game) => this.#begin(game),
      (error) => this.#tell(0, { ev: "error", ...plain(error) }),
    );
  }

  #begin(game) {
    this.#game = game;
    this.events.push(event("game", 0, { ev: "started", room: game.room }));
  }

  send(command, values) {
    const sent = this.#game?.send(command, ...values);
    const failed = (error) => this.events.push(event("game", 0, { ev: "error", ...plain(error) }));
    sent?.catch(failed);
    return sent !== undefined;
  }

  hold(controls) {
    return this.#try((game) => game.hold(controls));
  }

  setAxis(control, value) {
    return this.#try((game) => game.setAxis(control, value));
  }

  #try(call) {
    if (!this.#game || this.#game.isOver) return false;
    try {
      call(this.#game);
      return true;
    } catch (error) {
      this.events.push(event("game", 0, { ev: "error", ...plain(error) }));
      return false;
    }
  }

  /** Draws a frame; returns the number of its objects. */
  draw() {
    const frame = this.#game?.frame();
    const count = frame?.count ?? 0;
    if (this.frame.length < count * NUMBERS) this.frame = new Float64Array(2 * count * NUMBERS);
    for (let index = 0; index < count; index += 1) {
      const own = frame.isOwn(index) ? 1 : 0;
      const at = [frame.x(index), frame.y(index), frame.z(index), frame.heading(index)];
      this.frame.set([frame.id(index), frame.kindIndex(index), own, ...at], index * NUMBERS);
    }
    return count;
  }

  takeEvents() {
    for (const happened of this.#client?.events() ?? []) this.#tell(0, happened);
    for (const happened of this.#game?.events() ?? []) {
      // Frames have what comes, changes and goes.
      if (!["enter", "update", "leave"].includes(happened.ev)) {
        this.events.push(event("game", 0, happened));
      }
    }
    const taken = this.events;
    this.events = [];
    return taken;
  }

  /** What the game declares: the names of its kinds by index, commands, controls. */
  schema() {
    return this.#game?.schema ?? {};
  }

  close() {
    this.#client?.quit();
  }

  #tell(request, happened) {
    this.events.push(event("lobby", request, happened));
  }
}

function event(of, request, happened) {
  return { of, request, event: happened };
}

function plain(error) {
  return { code: error.code ?? "client_failed", message: String(error.message ?? error) };
}

const clients = [];

/** `id` is the number that `start` returned. */
globalThis.ambitBridge = {
  numbers: NUMBERS,
  start(options) {
    return clients.push(new BridgedClient(JSON.parse(options || "{}"))) - 1;
  },
  request: (id, request) => clients[id].request(JSON.parse(request)),
  send: (id, command, values) => clients[id].send(command, JSON.parse(values)),
  hold: (id, controls) => clients[id].hold(JSON.parse(controls)),
  setAxis: (id, control, value) => clients[id].setAxis(control, value),
  events: (id) => JSON.stringify(clients[id].takeEvents()),
  schema: (id) => JSON.stringify(clients[id].schema()),
  draw: (id) => clients[id].draw(),
  /** The numbers of the last `draw`, as bytes of an array of 64-bit floats. */
  frame: (id) => new Uint8Array(clients[id].frame.buffer),
  close: (id) => clients[id].close(),
};
