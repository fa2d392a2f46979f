import { ViewSubject } from "@lanthorn/contract";
import { type Command, Option } from "commander";
import { type ChangesOptions, showChanges } from "../commands/changes.ts";
import { deleteView, listViews, saveView, type ViewOptions } from "../commands/saved-views.ts";
import type { GroupDependencies } from "./group.ts";

/** `changes` and `views …`. */
export function addWorkspaceCommands(program: Command, { answering }: GroupDependencies): void {
  answering(
    program.command("changes").description("show what changed, in numbers: by default since you last looked in the dashboard, or within 24 hours")
      .option("--since <when>", "from then on: 24h (ago) or 2026-11-20T08:00:00Z; at most 31 days back").option("--site <site>", "at one site, by its name or id"),
    (connection, options: ChangesOptions) => showChanges(connection, options),
  );
  const views = program.command("views").description("saved views of the lists of devices and alerts: filter, order and columns");
  const listOption = () => new Option("--list <list>", "of which list").choices(ViewSubject.options);
  answering(
    views.command("list").description("list your own views, and those that others share").addOption(listOption()),
    (connection, options: { list?: ViewSubject }) => listViews(connection, options),
  );
  answering(
    views.command("save <name>").description("save a view, or change your own of this list and name").addOption(listOption().makeOptionMandatory())
      .option("--filter <text>", "in the filter language: 'type:printer -tag:lab'").option("--sort <field>", "by a field of the list; -field descends")
      .option("--columns <names>", "the columns, in their order: ip,hostname,vendor").option("--shared", "everybody of the tenant sees it").option("--no-shared", "only you see it"),
    (connection, name: string, options: ViewOptions) => saveView(connection, name, options),
  );
  answering(views.command("delete <view>").description("delete a view, by your own one's name or by its id"), (connection, view: string) => deleteView(connection, view));
}
