import { createHash } from "node:crypto";
import { join } from "node:path";
import { EnrollmentToken, EnrollResponse } from "@lanthorn/contract";
import { createId } from "@lanthorn/runtime";
import { onTestFinished } from "vitest";
import type { KeyAndCertificate } from "../../../certificates/authority.ts";
import { createRequest } from "../../../certificates/testing/request.ts";
import { type Answer, startStack } from "../../agents/testing/stack.ts";
import { createFileFolder } from "../folder.ts";

/** In hexadecimal. */
export const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
/** What a refusal says to the probe. */
export const refusal = ({ status, body }: Answer) => [status, body.error.details?.reason, body.error.details?.offset];

/** A collector, and probes that send files to it. */
export async function openFilesBench(options: Parameters<typeof startStack>[0] = {}) {
  const stack = await startStack(options);
  onTestFinished(() => stack.close());
  const enroll = async () => {
    const { token } = EnrollmentToken.parse((await stack.call("POST", "/api/v1/agents/tokens", { body: { site_id: stack.siteId } })).body);
    const { key, request } = await createRequest();
    const body = { token, certificate_request: request, name: "box" };
    const { probe_id: probeId, certificate } = EnrollResponse.parse((await stack.call("POST", "/api/v1/agents/enroll", { body })).body);
    return sender(probeId, { key, certificate });
  };
  const sender = (probeId: string, identity: KeyAndCertificate) => ({
    probeId,
    begin: (file: object) => stack.call("POST", "/api/v1/agents/files", { body: file, identity }),
    piece: (id: string, offset: number, bytes: Uint8Array, digest = sha256(bytes)) =>
      stack.call("PUT", `/api/v1/agents/files/${id}/content?offset=${offset}&sha256=${digest}`, { body: bytes, identity }),
    finish: (id: string) => stack.call("POST", `/api/v1/agents/files/${id}/finish`, { identity }),
    /** What is on the collector's disk. */
    path: (id: string) => join(stack.dataDir, "files", probeId, id),
    /** What is kept, decrypted. */
    async kept(id: string) {
      const content = await createFileFolder(stack.dataDir, stack.sealing).read({ probeId, id });
      const chunks: Uint8Array[] = [];
      for await (const chunk of content ?? []) chunks.push(chunk);
      return Buffer.concat(chunks);
    },
  });
  return { stack, enroll, sender };
}

/** What a probe begins a file with. */
export const fileOf = (content: Uint8Array) => ({ id: createId(), kind: "capture", size: content.length, sha256: sha256(content) });
