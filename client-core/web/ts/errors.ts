/** What can go wrong: an error with a stable code. */

/**
 * An error of the client or of the server. `message` says what happened and what to do; `code` is
 * stable: a code of the server (`"room_full"`), or one of the client: `"no_web_transport"`,
 * `"insecure_page"`, `"no_account"`, `"no_server"`, `"could_not_connect"`, `"connection_lost"`,
 * `"closed"`, `"not_in_room"`, `"not_playing"`, `"too_many_requests"`, `"bad_message"`,
 * `"bad_option"`, `"client_failed"`.
 */
export class AmbitError extends Error {
  constructor(readonly code: string, message: string) {
    super(message);
    this.name = "AmbitError";
  }
}

/** The error that the core has thrown, which is a text with `code` and `message`. */
export function coreError(thrown: unknown): unknown {
  if (typeof thrown !== "string") return thrown;
  const { code, message } = JSON.parse(thrown) as { code: string; message: string };
  return new AmbitError(code, message);
}

/** What an unknown thrown value says. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/**
 * The code of an {@link AmbitError}, which any module may have made.
 *
 * @internal
 */
export function codeOf(thrown: unknown): string | undefined {
  return thrown instanceof Error && thrown.name === "AmbitError"
    ? (thrown as AmbitError).code
    : undefined;
}
