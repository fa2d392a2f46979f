import type { TestProject } from "vitest/node";
import { startPostgres } from "../../../../test/lab/postgres.ts";
import { openDatabase } from "../db/open.ts";
import { SERVER_VARIABLE, TEMPLATE } from "./database.ts";

declare module "vitest" {
  interface ProvidedContext {
    readonly [SERVER_VARIABLE]: string;
  }
}

/** Before the first test on PostgreSQL: one server for the run, with a database that has every table. @returns Ends it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startPostgres();
  try {
    await server.createDatabase(TEMPLATE);
    await (await openDatabase({ url: server.urlOf(TEMPLATE) })).close();
    project.provide(SERVER_VARIABLE, server.urlOf("postgres"));
  } catch (error) {
    await server.close();
    throw error;
  }
  return () => server.close();
}
