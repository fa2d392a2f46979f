import { createStreamSockets } from "../events/stream-socket.ts";
import { createClientAddress } from "../gateway/http/address.ts";
import { createPeerAllowance } from "../gateway/app.ts";
import { type ConnectionLimits, type Connections, createConnections } from "../gateway/http/connections.ts";
import { type Listener, type ListenerOptions, openListener } from "../gateway/http/listeners.ts";
import { createProxiedSockets } from "../gateway/proxy/sockets.ts";
import { createProxyWarning } from "../gateway/http/unlisted-proxy.ts";
import { PLENTY_OF_CONNECTIONS } from "./plenty.ts";

/** How a gateway under test is reached. */
export interface TestListenerOptions {
  readonly tls?: ListenerOptions["tls"];
  readonly trustedProxies?: readonly string[];
  readonly connections?: Partial<ConnectionLimits>;
}

/** One listener for the app and the streams, as the product has them. */
export async function openTestListener(
  options: TestListenerOptions,
  parts: Omit<Parameters<typeof createStreamSockets>[0], "authentication">
    & Pick<Parameters<typeof createProxiedSockets>[0], "remotes">
    & Pick<Parameters<typeof openListener>[1], "fetch">
    & { readonly authentication: Parameters<typeof createStreamSockets>[0]["authentication"]
      & Parameters<typeof createProxiedSockets>[0]["authentication"] },
): Promise<{ readonly listener: Listener; readonly connections: Connections; closeStreams(): Promise<void> }> {
  const { clock, log, fetch } = parts;
  const trustedProxies = options.trustedProxies ?? [];
  const streams = createStreamSockets(parts);
  const proxied = createProxiedSockets(parts);
  const connections = createConnections({ limits: { ...PLENTY_OF_CONNECTIONS, ...options.connections }, trustedProxies, clock });
  const listener = await openListener({ host: "127.0.0.1", port: 0, tls: options.tls ?? null }, {
    fetch, connections, clock, log,
    onUpgrade(upgrade) {
      if (!proxied.take(upgrade)) streams.onUpgrade(upgrade);
    },
    takeAllowance: createPeerAllowance(parts), clientAddress: createClientAddress(trustedProxies),
    onRequest: createProxyWarning({ trustedProxies, clock, log }),
  });
  return {
    listener, connections,
    async closeStreams() {
      await streams.close();
      proxied.close();
    },
  };
}
