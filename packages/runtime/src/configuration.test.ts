import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import * as z from "zod";
import { readConfiguration } from "./configuration.ts";
import { RuntimeError } from "./errors.ts";

const schema = z.strictObject({
  data_dir: z.string().default("/var/lib/x"),
  http: z.strictObject({ port: z.int().min(0).max(65_535).default(8080), host: z.string().default("127.0.0.1") }).prefault({}),
});
const names = { X_DATA_DIR: "data_dir", X_HTTP_PORT: "http.port", X_HTTP_HOST: "http.host" };
let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "configuration-"));
  file = join(folder, "x.toml");
});
afterEach(() => rmSync(folder, { recursive: true }));

const read = (text: string | null, environment: Record<string, string> = {}) => {
  if (text !== null) writeFileSync(file, text);
  return readConfiguration({ schema, file, optional: true, environment, names });
};

describe("a configuration", () => {
  test("is what the file says, with defaults for the rest", () => {
    expect(read("[http]\nport = 9000\n")).toEqual({ data_dir: "/var/lib/x", http: { port: 9000, host: "127.0.0.1" } });
  });

  test("is overridden by the environment, whose numbers are numbers", () => {
    expect(read("[http]\nport = 9000\n", { X_HTTP_PORT: "9001", X_DATA_DIR: "/data", X_HTTP_HOST: "" })).toEqual({
      data_dir: "/data", http: { port: 9001, host: "127.0.0.1" },
    });
  });

  test("is all defaults where an optional file is not there", () => {
    expect(read(null).http.port).toBe(8080);
  });

  test.each([
    ["an unknown key", "colour = 1\n[http]\nprot = 1\n", "config-invalid", "http"],
    ["a value out of range", "[http]\nport = 70000\n", "config-invalid", "http.port"],
    ["a value of the wrong type", "data_dir = 5\n", "config-invalid", "data_dir"],
    ["text that is no TOML", "= = =\n", "config-unreadable", "x.toml"],
  ])("with %s is refused, naming it", (_, text, code, named) => {
    expect(() => read(text)).toThrow(RuntimeError);
    expect(() => read(text)).toThrow(expect.objectContaining({ code, message: expect.stringContaining(named) as string }));
  });

  test("that cannot be read is refused where it was asked for", () => {
    expect(() => readConfiguration({ schema, file: join(folder, "none.toml"), optional: false, environment: {}, names })).toThrow(
      expect.objectContaining({ code: "config-unreadable" }),
    );
  });
});
