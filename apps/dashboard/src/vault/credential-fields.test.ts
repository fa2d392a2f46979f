import { expect, test } from "vitest";
import { credentialOf } from "./credential-fields.ts";

test("a form becomes the credential of its type, without what is empty", () => {
  expect(credentialOf("snmp", { name: " Switches ", community: "public-1", version: "2c", networks: "10.0.0.0/24, 10.0.1.1/32" }, [])).toMatchObject({
    name: "Switches", networks: ["10.0.0.0/24", "10.0.1.1/32"], settings: { version: "2c", port: 161 }, secret: { community: "public-1" },
  });
  expect(credentialOf("ssh", { name: "Hosts", username: "scan", password: "", private_key: "KEY", networks: "" }, [])).toMatchObject({
    networks: [], settings: { username: "scan", port: 22 }, secret: { private_key: "KEY" },
  });
  expect(() => credentialOf("snmp", { name: "x", community: "" }, [])).toThrow();
});
