import type { Answer, TestGateway } from "../../../testing/gateway.ts";

export function login({ request }: TestGateway, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  return request("/api/auth/login", {
    method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json", ...headers },
  });
}

/** What a token says, unchecked. */
export function claimsOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as Record<string, unknown>;
}
