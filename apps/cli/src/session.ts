import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { parseJson } from "@lanthorn/runtime";
import * as z from "zod";
import { CliError } from "./errors.ts";

const Session = z.strictObject({
  url: z.url(),
  username: z.string(),
  access_token: z.string(),
  expires_at: z.number(),
  /** PEM of the CA to trust beside the system's own; null for those only. */
  ca: z.string().nullable(),
});

/** A login as it is kept between two commands. `expires_at` in milliseconds since the epoch. */
export type Session = z.infer<typeof Session>;

/** One file that only its owner can read, replaced whole. */
export interface SessionStore {
  /** @throws CliError `not-logged-in` where there is none that can be read. */
  read(): Session;
  write(session: Session): void;
  forget(): void;
}

/** @param path Its folders are created, for the owner alone (0700); the file is 0600, as it holds the token. */
export function createSessionStore(path: string): SessionStore {
  return {
    read() {
      let text: string;
      try {
        text = readFileSync(path, "utf8");
      } catch (cause) {
        throw new CliError("not-logged-in", "not logged in; log in first: lanthorn login --url URL", { cause });
      }
      const session = Session.safeParse(parseJson(text));
      if (!session.success) throw new CliError("not-logged-in", `${path} is not a valid login; log in again: lanthorn login --url URL`);
      return session.data;
    },
    write(session) {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      const temporary = `${path}.${process.pid}`;
      writeFileSync(temporary, JSON.stringify(session, null, 2), { mode: 0o600 });
      chmodSync(temporary, 0o600);
      renameSync(temporary, path);
    },
    forget() {
      rmSync(path, { force: true });
    },
  };
}
