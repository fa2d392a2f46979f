import { createRestClient } from "@lanthorn/client";
import type { Clock } from "@lanthorn/runtime";
import { createFetch } from "../connection.ts";
import { CliError } from "../errors.ts";
import { type Input, readText } from "../input.ts";
import type { SessionStore } from "../session.ts";

/** `passwordFile` and `ca` (PEM) are paths, `-` for standard input. Without `ca` the system's CAs are trusted. */
export interface LoginOptions {
  readonly url: string;
  readonly username: string;
  readonly passwordFile?: string;
  readonly ca?: string;
}

/** Asks for a password unless a file holds it, logs in, and keeps the login for the commands that follow. */
export async function login(
  options: LoginOptions,
  deps: { readonly store: SessionStore; readonly clock: Clock; readonly input: Input; readonly print: (line: string) => void },
): Promise<void> {
  const url = checkUrl(options.url);
  const ca = options.ca === undefined ? null : await readText(options.ca, deps.input);
  const password = options.passwordFile === undefined
    ? await deps.input.askSecret(`Password of ${options.username}: `)
    : (await readText(options.passwordFile, deps.input)).trimEnd();
  const rest = createRestClient({ url, token: () => null, fetch: createFetch(ca) });
  const token = await rest.login({ username: options.username, password });
  deps.store.write({
    url, username: options.username, access_token: token.access_token, expires_at: deps.clock.now() + token.expires_in * 1000, ca,
  });
  deps.print(`logged in to ${url} as ${options.username}`);
}

function checkUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw new CliError("bad-option", `--url: ${JSON.stringify(text)} is not an http or https address`);
  }
  return text;
}
