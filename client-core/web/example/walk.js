// Draws what is in sight, and walks where one clicks: a game that knows no rules but the schema.
import { connect } from "../dist/ambit.js";

const SCALE = 8; // Pixels a metre.
const canvas = document.getElementById("canvas");
const line = document.getElementById("line");
const context = canvas.getContext("2d");

async function enter() {
  const client = await connect({ keepSession: true });
  if (client.room) return client.room.play(); // The page was loaded anew.
  const open = (await client.rooms()).find((room) => room.game === "field" && room.running);
  if (open) return (await client.joinRoom(open.id)).play();
  return (await client.createRoom("meadow", "field", { parameters: { npcs: 200 } })).start();
}

function draw(game, time) {
  const frame = game.frame(time);
  canvas.width = canvas.clientWidth;
  canvas.height = canvas.clientHeight;
  const own = frame.avatar;
  const middle = own < 0 ? [0, 0] : [frame.x(own), frame.y(own)];
  context.translate(canvas.width / 2, canvas.height / 2);
  context.textAlign = "center";
  for (let index = 0; index < frame.count; index += 1) {
    const { look } = frame.kind(index);
    const x = (frame.x(index) - middle[0]) * SCALE;
    const y = (middle[1] - frame.y(index)) * SCALE; // North is up.
    const radius = Math.max(2, (look.size * SCALE) / 2);
    context.fillStyle = look.colour;
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fill();
    const bar = frame.bar(index);
    if (bar !== undefined) context.fillRect(x - radius, y - radius - 6, 2 * radius * bar, 3);
    context.fillText(frame.label(index) ?? "", x, y + radius + 12);
  }
  line.textContent = `${frame.count} objects`;
  return middle;
}

try {
  const game = await enter();
  let middle = [0, 0];
  const walk = game.schema.commands.find((command) => command.key === "click");
  canvas.addEventListener("click", (event) => {
    const x = middle[0] + (event.clientX - canvas.width / 2) / SCALE;
    const y = middle[1] - (event.clientY - canvas.height / 2) / SCALE;
    // It fails off the map, or if there is no game just now.
    game.send(walk.name, [x, y]).catch(({ code, message }) => console.warn(code, message));
  });
  requestAnimationFrame(function next(time) {
    middle = draw(game, time);
    for (const event of game.events()) if (event.ev !== "update") console.log(event);
    if (!game.isOver) requestAnimationFrame(next);
  });
} catch (error) {
  line.textContent = `${error.code ?? "error"}: ${error.message}`;
}
