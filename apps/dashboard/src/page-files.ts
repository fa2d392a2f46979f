import { ClientError } from "@lanthorn/client";
import { clock } from "./clock.ts";

/** How often a file is asked for before it is said that it does not come. */
const MAX_TRIES = 4;
const WAIT_SECONDS = 1;
/** Who waits for longer is to know why. */
const LONGEST_WAIT_SECONDS = 5;

const files = new Map<string, Promise<void>>();

/**
 * Imports a page when its files have come. A browser does not ask again for a script that it did not get, so each is fetched before, and again
 * where the collector refused it for its rate or did not answer; the import finds it in the browser's cache. The build calls it for each `import()`.
 * @param names The page's file and those that it needs, relative to `from`.
 * @throws ClientError `RATE_LIMITED` or `unreachable`; what else is wrong with a file is the import's to say.
 */
export async function importPage<Module>(load: () => Promise<Module>, names: readonly string[] = [], from = ""): Promise<Module> {
  await Promise.all(names.map((name) => keepFile(new URL(name, from).href)));
  return load();
}

function keepFile(url: string): Promise<void> {
  const kept = files.get(url);
  if (kept) return kept;
  const coming = fetchFile(url).catch((error: unknown) => {
    files.delete(url);
    throw error;
  });
  files.set(url, coming);
  return coming;
}

async function fetchFile(url: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const refusal = await refusalOf(url);
    if (refusal === null) return;
    const wait = refusal.retryAfterSeconds ?? WAIT_SECONDS;
    if (tries === MAX_TRIES || wait > LONGEST_WAIT_SECONDS) throw refusal;
    await new Promise<void>((resolve) => {
      clock.after(wait * 1000, resolve);
    });
  }
}

/** Asks for a file once. @returns Why it may be asked for again; null where that would not help. */
async function refusalOf(url: string): Promise<ClientError | null> {
  try {
    const answer = await fetch(url);
    // Only what was read to its end is kept by the browser.
    await answer.arrayBuffer();
    if (answer.status !== 429) return null;
    const wait = Number(answer.headers.get("retry-after"));
    return new ClientError("RATE_LIMITED", "The collector was asked for more files of this page than it gives to one network address at once.", {
      status: 429, requestId: answer.headers.get("x-request-id"), retryAfterSeconds: wait > 0 ? wait : null,
    });
  } catch (error) {
    return new ClientError("unreachable", "the page's file did not come", { cause: error });
  }
}
