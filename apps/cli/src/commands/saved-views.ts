import type { View, ViewCreate, ViewSubject } from "@lanthorn/contract";
import type { Answer } from "../answer.ts";
import { collect } from "../collect.ts";
import type { Connection } from "../connection.ts";
import { CliError } from "../errors.ts";

type Rest = Pick<Connection, "rest">;

/** What is saved. Left out, it stays, or is as with a new view. */
export interface ViewOptions {
  readonly list: ViewSubject;
  readonly filter?: string;
  readonly sort?: string;
  /** Names with commas. */
  readonly columns?: string;
  readonly shared?: boolean;
}

/** One's own views, and those that are shared. */
export async function listViews({ rest }: Rest, { list }: { readonly list?: ViewSubject }): Promise<Answer> {
  return answer(await viewsOf(rest, list));
}

/** Saves a view, in place of one's own of this list and name. */
export async function saveView({ rest }: Rest, name: string, { list, filter, sort, columns, shared }: ViewOptions): Promise<Answer> {
  const known = (await viewsOf(rest, list)).find((view) => view.is_own && view.name === name);
  const fields = {
    ...(filter !== undefined && { filter }), ...(sort !== undefined && { sort }), ...(shared !== undefined && { shared }),
    ...(columns !== undefined && { columns: columns.split(",").map((column) => column.trim()).filter((column) => column !== "") }),
  };
  const blank: ViewCreate = { list, name, filter: "", sort: "", columns: [], shared: false };
  const saved = await (known ? rest.updateView(known.id, fields) : rest.createView({ ...blank, ...fields }));
  return { ...answer([saved]), json: saved };
}

/** Deletes a view. @param view Its id, or the name of one's own. @throws CliError `not-found`, also where several have the name. */
export async function deleteView({ rest }: Rest, view: string): Promise<Answer> {
  const [found, ...others] = (await viewsOf(rest)).filter(({ id, name, is_own: isOwn }) => id === view || (isOwn && name === view));
  if (!found) throw new CliError("not-found", `you have no view ${JSON.stringify(view)}; see: lanthorn views list`);
  if (others.length > 0) throw new CliError("not-found", `${others.length + 1} views have the name ${JSON.stringify(view)}; give the id of one: ${[found, ...others].map(({ id }) => id).join(", ")}`);
  await rest.deleteView(found.id);
  return { json: { id: found.id }, text: `deleted the view ${found.id}` };
}

function viewsOf(rest: Rest["rest"], list?: ViewSubject): Promise<readonly View[]> {
  return collect((query) => rest.listViews({ ...query, ...(list !== undefined && { list }) }));
}

function answer(views: readonly View[]): Answer {
  return {
    json: views,
    table: {
      heading: ["NAME", "LIST", "FILTER", "SORT", "COLUMNS", "OWNER", "ID"],
      rows: views.map(({ name, list, filter, sort, columns, shared, owner, is_own: isOwn, id }) => [
        name, list, filter || "-", sort || "-", columns.join(",") || "-", isOwn ? shared ? "you, shared" : "you" : owner.username, id,
      ]),
    },
  };
}
