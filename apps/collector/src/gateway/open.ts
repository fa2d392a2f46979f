import type { Lifecycle } from "@lanthorn/runtime";
import type { Authority } from "../certificates/authority.ts";
import { ownPair } from "../certificates/own-pair.ts";
import type { ServerCertificate } from "../certificates/server-certificate.ts";
import type { HttpSettings, HttpsSettings } from "./configuration.ts";
import { createClientAddress } from "./http/address.ts";
import { openListener } from "./http/listeners.ts";
import { createProxyWarning } from "./http/unlisted-proxy.ts";
import { urlHost } from "./http/url-host.ts";

/** Where the gateway is reached. */
interface Places {
  readonly url: string;
  readonly https_url: string | null;
}

/**
 * Opens the plain listener and, where it is enabled, the one with TLS.
 * @param deps.closeStreams Done together with the closing: a listener is closed when its last stream has ended.
 * @throws CollectorError `listen-failed`, naming the address.
 */
export async function openListeners(
  configuration: { readonly http: HttpSettings; readonly https: HttpsSettings; readonly trusted_proxies: readonly string[] },
  deps: Omit<Parameters<typeof openListener>[1], "clientAddress" | "onRequest"> & {
    readonly authority: Authority; readonly certificate: ServerCertificate; readonly lifecycle: Pick<Lifecycle, "onClose">;
    readonly closeStreams: () => Promise<void>;
  },
): Promise<Places> {
  const { http, https } = configuration;
  const { authority, certificate } = deps;
  const { trusted_proxies: trustedProxies } = configuration;
  const listenerDeps = {
    ...deps, clientAddress: createClientAddress(trustedProxies), onRequest: createProxyWarning({ ...deps, trustedProxies }),
  };
  const serving = [deps.closeStreams];
  deps.lifecycle.onClose("listeners", async () => void (await Promise.all(serving.map((close) => close()))));
  const plain = await openListener({ host: http.host, port: http.port, tls: null }, listenerDeps);
  serving.push(() => plain.close());
  const url = `http://${urlHost(http.host)}:${plain.port}`;
  if (!https.enabled) return { url, https_url: null };
  const tls = { ...ownPair(configuration, certificate), clientAuthority: authority.certificate };
  const secure = await openListener({ host: https.host, port: https.port, tls }, listenerDeps);
  serving.push(() => secure.close());
  if (https.certificate_file === undefined) certificate.onChange((pair) => secure.useCertificate(pair));
  return { url, https_url: `https://${urlHost(https.host)}:${secure.port}` };
}
