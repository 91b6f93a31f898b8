// What operators do, each with a dialog that says what will happen. An action that the role of the
// key does not allow is not offered.

import { ask } from "./api.js";
import { askFor, tell } from "./dialogs.js";
import { words } from "./words.js";

const texts = words.actions;
const REASON_CHARS = 200;
const MESSAGE_CHARS = 500;

/** An action: a label, the role that it needs, and what it does. */
function action(text, role, tone, dialog, { done = () => text.done, request }) {
  const open = async (refresh) => {
    let answer;
    const run = async (values) => {
      answer = await request(values);
    };
    if (await askFor({ ...dialog, go: dialog.go ?? text.go, tone, run })) {
      tell(done(answer));
      await refresh();
    }
  };
  return { label: text.label, role, tone, open };
}

function reasonField(label = texts.reason) {
  const attributes = { maxlength: REASON_CHARS, autocomplete: "off" };
  const hint = texts.reasonHint;
  return { name: "reason", kind: "text", label, hint, options: texts.reasons, attributes };
}

function lengthField() {
  const options = texts.lengths;
  return { name: "hours", kind: "select", label: texts.length, options, value: "24" };
}

/** The reason, and for how long: what the server takes as a term. */
function term({ reason, hours }) {
  return hours ? { reason, hours: Number(hours) } : { reason };
}

/** A request about one thing, with a dialog that asks for a reason if `fields` do. */
function simple(text, role, tone, { name, about, fields = [], method, path }) {
  const dialog = { title: text.title(name), about, fields };
  if (typeof text.go === "function") dialog.go = text.go(name);
  const request = (values) => {
    const body = method === "POST" ? values : undefined;
    return ask(method, path, body && "hours" in body ? term(body) : body);
  };
  return action(text, role, tone, dialog, { done: () => text.done(name), request });
}

/** A line of chat; `to` is empty, or names a `room` or a `player`. */
export function message(to, whom) {
  const text = texts.message;
  const attributes = { maxlength: MESSAGE_CHARS, required: true };
  const fields = [{ name: "text", kind: "lines", label: texts.text, attributes }];
  const dialog = { title: text.title(whom), about: text.about, fields };
  const request = (values) => ask("POST", "messages", { ...values, ...to });
  return action(text, "moderate", undefined, dialog, {
    done: (it) => text.done(it.reached),
    request,
  });
}

export function ofPlayer(player) {
  const { id, name, account, mute } = player;
  const path = `players/${id}`;
  const muting = mute
    ? simple(texts.unmute, "moderate", undefined, {
        name,
        about: texts.unmute.about(name),
        method: "DELETE",
        path: `${path}/mute`,
      })
    : simple(texts.mute, "moderate", undefined, {
        name,
        about: texts.mute.about(account),
        fields: [reasonField(), lengthField()],
        method: "POST",
        path: `${path}/mute`,
      });
  const kick = simple(texts.kick, "moderate", "danger", {
    name,
    about: texts.kick.about(name),
    fields: [reasonField()],
    method: "POST",
    path: `${path}/kick`,
  });
  return [message({ player: id }, name), muting, kick, banPlayer(player)];
}

function banPlayer({ id, name, account }) {
  const text = texts.ban;
  const what = account
    ? [
        ["both", text.both],
        ["account", text.account],
        ["name", text.name],
      ]
    : [
        ["both", text.address],
        ["name", text.name],
      ];
  const fields = [
    { name: "what", kind: "choice", label: text.what, options: what },
    reasonField(),
    lengthField(),
  ];
  const dialog = {
    title: text.title(name),
    about: [text.about(name), text.shared],
    fields,
    go: text.go(name),
  };
  const request = ({ what, ...values }) => {
    if (what === "both") return ask("POST", `players/${id}/ban`, term(values));
    const target = what === "account" ? { account } : { name };
    return ask("POST", "bans", { ...target, ...term(values) });
  };
  const done = ({ reached }) => text.done(name, reached);
  return action(text, "moderate", "danger", dialog, { done, request });
}

export function ofRoom({ id, name, locked, players }) {
  const path = `rooms/${id}`;
  const text = locked ? texts.unlock : texts.lock;
  const lock = simple(text, "moderate", undefined, {
    name,
    about: text.about,
    method: locked ? "DELETE" : "POST",
    path: `${path}/lock`,
  });
  const close = simple(texts.closeRoom, "operate", "danger", {
    name,
    about: texts.closeRoom.about(players),
    fields: [reasonField(texts.reasonForAll)],
    method: "POST",
    path: `${path}/close`,
  });
  return [message({ room: id }, name), lock, close];
}

export function ofHost({ id, label, drained, rooms }) {
  const name = words.hosts.name(id, label);
  const text = drained ? texts.undrainHost : texts.drainHost;
  return [
    simple(text, "operate", undefined, {
      name,
      about: drained ? text.about : text.about(rooms),
      method: drained ? "DELETE" : "POST",
      path: `hosts/${id}/drain`,
    }),
  ];
}

export function shutDown(players) {
  const text = texts.shutDown;
  const attributes = { min: 0, max: 1_440, required: true };
  const fields = [
    { name: "minutes", kind: "number", label: text.minutes, value: "10", attributes },
    reasonField(texts.reasonForAll),
  ];
  const dialog = { title: text.title, about: text.about(players), fields };
  const request = ({ minutes, reason }) =>
    ask("POST", "drain", { minutes: Number(minutes), reason });
  return action(text, "operate", "danger", dialog, { request });
}

export function reload() {
  const text = texts.reload;
  const attributes = { placeholder: "info", autocomplete: "off", spellcheck: "false" };
  const log = { name: "log", kind: "text", label: text.log, hint: text.logHint, attributes };
  const dialog = { title: text.title, about: text.about, fields: [log] };
  const request = ({ log }) => ask("POST", "reload", log.trim() ? { log: log.trim() } : {});
  return action(text, "operate", undefined, dialog, { request });
}

export function callOff() {
  const text = texts.callOff;
  const dialog = { title: text.title, about: text.about };
  return action(text, "operate", undefined, dialog, { request: () => ask("DELETE", "drain") });
}

export function addBan() {
  const text = texts.addBan;
  const fields = [
    { name: "kind", kind: "select", label: text.kind, options: text.kinds },
    { name: "value", kind: "text", label: text.value, attributes: { required: true } },
    reasonField(),
    lengthField(),
    { name: "chat", kind: "check", label: text.chat },
  ];
  const request = ({ kind, value, chat, ...values }) => {
    const only = chat ? { only: "chat" } : {};
    return ask("POST", "bans", { [kind]: value.trim(), ...only, ...term(values) });
  };
  const dialog = { title: text.title, about: text.about, fields };
  return action(text, "moderate", "danger", dialog, { request });
}

/** A ban as the list has it; `name` is what one reads. */
export function unban({ target, from }, name) {
  const text = texts.unban;
  const dialog = { title: text.title(name, from), about: text.about(from), fields: [] };
  const path = `bans/${encodeURIComponent(target)}`;
  const request = () => ask("DELETE", path, { only: from });
  return action(text, "moderate", undefined, dialog, { done: () => text.done(name), request });
}
