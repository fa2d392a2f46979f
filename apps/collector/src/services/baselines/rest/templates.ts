import {
  type BaselineSettingsQuery, type BaselineTemplate, type BaselineTemplateCreate, type BaselineTemplateUpdate, type List, MAX_BASELINE_EDIT,
  MAX_BASELINE_TEMPLATES,
} from "@lanthorn/contract";
import { createId, toInstant } from "@lanthorn/runtime";
import { isDuplicate } from "../../../db/constraints.ts";
import type { Actor } from "../../../gateway/environment.ts";
import { ApiError, notFound, requireSite } from "../../../gateway/errors.ts";
import { pageById } from "../../../gateway/page.ts";
import { badRequest } from "../../../gateway/route.ts";
import { tagsOf } from "../store/acceptances.ts";
import { baselineOfDevice } from "../store/baseline-lists.ts";
import { facts } from "../store/fact-lists.ts";
import type { Trx } from "../store/handles.ts";
import {
  addTemplate, changeTemplate, countTemplates, MAX_TEMPLATE_CHARACTERS, removeTemplate, templateById, templateCharacters, type TemplateRow, templates,
} from "../store/templates.ts";
import type { RestDependencies } from "./dependencies.ts";
import { plainFact } from "./facts-of-people.ts";
import { toTemplate } from "./records.ts";

type Facts = BaselineTemplate["facts"];

/** Facts that devices with a tag share. */
export interface TemplatesService {
  /** The oldest first. @throws ApiError NOT_FOUND for a site that the tenant does not have. */
  list(tenantId: string, query: BaselineSettingsQuery): Promise<List<BaselineTemplate>>;
  /** @throws ApiError NOT_FOUND. */
  read(tenantId: string, id: string): Promise<BaselineTemplate>;
  /** @throws ApiError NOT_FOUND for a site or device; BAD_REQUEST for what is no fact; CONFLICT for a name that is taken, a device that has no facts, or too many. */
  create(actor: Actor, wish: BaselineTemplateCreate): Promise<BaselineTemplate>;
  /** @throws ApiError NOT_FOUND; BAD_REQUEST; CONFLICT for a name that is taken. */
  update(actor: Actor, id: string, change: BaselineTemplateUpdate): Promise<BaselineTemplate>;
  /** @throws ApiError NOT_FOUND. */
  remove(actor: Actor, id: string): Promise<void>;
}

/** Over the collector's database. Each change writes its audit record in its transaction. */
export function createTemplatesService({ store, audit, clock }: RestDependencies): TemplatesService {
  const { reads } = store;
  const find = async (from: typeof reads, tenantId: string, id: string) => {
    const row = await templateById(from, tenantId, id);
    if (!row) throw notFound("template");
    return row;
  };

  return {
    async list(tenantId, { site_id: siteId, ...page }) {
      await requireSite(store, tenantId, siteId);
      return pageById(page, {
        read: (rows) => templates(reads, tenantId, siteId, rows), count: () => countTemplates(reads, tenantId, siteId), show: toTemplate,
      });
    },

    read: async (tenantId, id) => toTemplate(await find(reads, tenantId, id)),

    async create(actor, { name, tag, site_id: siteId, facts: given, from_device_id: deviceId }) {
      const { tenantId } = actor;
      await requireSite(store, tenantId, siteId);
      return named(name, () => store.change(tenantId, async (trx, concernsAll) => {
        if ((await countTemplates(trx, tenantId, undefined)) >= MAX_BASELINE_TEMPLATES) {
          throw new ApiError("CONFLICT", `there are ${MAX_BASELINE_TEMPLATES} templates already: delete some`);
        }
        const at = toInstant(clock.now());
        const shared = deviceId === undefined ? plainFacts(given ?? []) : await factsOfDevice(trx, tenantId, deviceId);
        const row: TemplateRow = {
          id: createId(), tenant_id: tenantId, site_id: siteId ?? null, name, tag, facts: JSON.stringify(shared), created_by: actor.name, created_at: at,
          updated_at: at,
        };
        await addTemplate(trx, row);
        await checkSize(trx, tenantId);
        concernsAll(row.site_id, at);
        await audit(trx, {
          actor, action: "baseline_template.create", target: { type: "baseline_template", id: row.id }, before: null, after: toTemplate(row),
        });
        return toTemplate(row);
      }));
    },

    update: (actor, id, { name, tag, facts: given }) => named(name, () => store.change(actor.tenantId, async (trx, concernsAll) => {
      const before = await find(trx, actor.tenantId, id);
      const at = toInstant(clock.now());
      const change = {
        ...(name !== undefined && { name }), ...(tag !== undefined && { tag }), ...(given !== undefined && { facts: JSON.stringify(plainFacts(given)) }),
        updated_at: at,
      };
      const after = { ...before, ...change };
      await changeTemplate(trx, id, change);
      await checkSize(trx, actor.tenantId);
      concernsAll(before.site_id, at);
      await audit(trx, {
        actor, action: "baseline_template.update", target: { type: "baseline_template", id }, before: toTemplate(before), after: toTemplate(after),
      });
      return toTemplate(after);
    })),

    remove: (actor, id) => store.change(actor.tenantId, async (trx, concernsAll) => {
      const row = await find(trx, actor.tenantId, id);
      await removeTemplate(trx, id);
      concernsAll(row.site_id, toInstant(clock.now()));
      await audit(trx, {
        actor, action: "baseline_template.delete", target: { type: "baseline_template", id }, before: toTemplate(row), after: null,
      });
    }),
  };
}

/** @throws ApiError CONFLICT where a write fails for a name that another template has. */
async function named<T>(name: string | undefined, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (isDuplicate(error)) throw new ApiError("CONFLICT", `there is a template ${JSON.stringify(name)} already`, { cause: error });
    throw error;
  }
}

/** @throws ApiError BAD_REQUEST for what is no fact of a device, and for one that is named twice. */
function plainFacts(given: Facts): Facts {
  const seen = new Set<string>();
  return given.map((one, index) => {
    const plain = plainFact(one, "device");
    if (!("fact" in plain)) throw badRequest([{ path: ["facts", index, plain.path], message: plain.message }]);
    const { kind, key } = plain.fact;
    if (seen.has(`${kind} ${key}`)) throw badRequest([{ path: ["facts", index, "key"], message: "is named twice" }]);
    seen.add(`${kind} ${key}`);
    return plain.fact;
  });
}

/** Ports and services of a device's baseline. @throws ApiError NOT_FOUND for the device; CONFLICT where there are none, or too many. */
async function factsOfDevice(trx: Trx, tenantId: string, deviceId: string): Promise<Facts> {
  if ((await tagsOf(trx, tenantId, deviceId)) === null) throw notFound("device");
  const baseline = await baselineOfDevice(trx, tenantId, deviceId);
  const rows = baseline ? await facts(trx, baseline.id, ["port", "service"], { from: 0, limit: MAX_BASELINE_EDIT + 1 }) : [];
  if (rows.length === 0) throw new ApiError("CONFLICT", "the device's baseline has no ports and services yet: scan it, or give `facts`");
  if (rows.length > MAX_BASELINE_EDIT) throw new ApiError("CONFLICT", `the device's baseline has more than ${MAX_BASELINE_EDIT} ports and services`);
  return rows.map(({ kind, key, value }) => ({ kind: kind as Facts[number]["kind"], key, value }));
}

/** @throws ApiError CONFLICT where the tenant's templates have too many facts in all. */
async function checkSize(trx: Trx, tenantId: string): Promise<void> {
  if ((await templateCharacters(trx, tenantId)) <= MAX_TEMPLATE_CHARACTERS) return;
  throw new ApiError("CONFLICT", "the templates of the tenant have more facts than are kept: delete templates, or facts of some");
}
