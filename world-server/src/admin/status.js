// Shows what the server says, once a second. Players type names, so all of it is put in as text.
const summary = document.getElementById("summary");
const silence = document.getElementById("silence");
const bodies = document.querySelectorAll("tbody");

function row(cells) {
  const made = document.createElement("tr");
  for (const text of cells) made.insertCell().textContent = text;
  return made;
}

async function renew() {
  try {
    const answer = await fetch("status.json", { signal: AbortSignal.timeout(5_000) });
    if (!answer.ok) throw new Error(answer.statusText);
    const status = await answer.json();
    summary.textContent = status.summary;
    bodies.forEach((body, number) => body.replaceChildren(...status.tables[number].map(row)));
    silence.hidden = true;
  } catch {
    silence.hidden = false;
  }
  setTimeout(renew, 1_000);
}

setTimeout(renew, 1_000);
