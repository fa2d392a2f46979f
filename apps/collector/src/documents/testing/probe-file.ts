import { createHash } from "node:crypto";
import { request } from "node:https";
import { createId } from "@lanthorn/runtime";

/** A probe's certificate, and where its collector is. */
interface Sender {
  readonly httpsUrl: string;
  readonly key: string;
  readonly certificate: string;
  readonly ca: string;
}

/** Sends a small file up, as a probe does. @throws Error for any answer but 200. */
export async function sendProbeFile(sender: Sender): Promise<void> {
  const content = Buffer.from('"a transcript"');
  const sha256 = createHash("sha256").update(content).digest("hex");
  const id = createId();
  await ask(sender, "POST", "", JSON.stringify({ id, kind: "transcript", size: content.length, sha256 }));
  await ask(sender, "PUT", `/${id}/content?offset=0&sha256=${sha256}`, content);
  await ask(sender, "POST", `/${id}/finish`);
}

function ask({ httpsUrl, key, certificate, ca }: Sender, method: string, path: string, body?: string | Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request(new URL(`/api/v1/agents/files${path}`, httpsUrl), {
      method, key, cert: certificate, ca, agent: false, checkServerIdentity: () => undefined,
      headers: { "content-type": typeof body === "string" ? "application/json" : "application/octet-stream", "content-length": Buffer.byteLength(body ?? "") },
    }, (response) => {
      response.resume().on("end", () => (response.statusCode === 200 ? resolve() : reject(new Error(`${method} ${path} answered ${response.statusCode}`))));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
