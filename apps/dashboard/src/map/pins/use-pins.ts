import { ClientError } from "@lanthorn/client";
import type { MapPins } from "@lanthorn/contract";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { clock } from "../../clock.ts";
import type { Session } from "../../session/session.ts";
import { useMay, useSession } from "../../session/use-session.ts";
import type { Place } from "../placing/layout.ts";

/** Where people have put the stations of a map. */
export interface Pins {
  /** The middle of each pinned station's box, by its node's id. */
  readonly places: ReadonlyMap<string, Place>;
  readonly mayPin: boolean;
  readonly isLoading: boolean;
  /** Why they could not be saved, or read; null while they could. */
  readonly error: Error | null;
  readonly retry: () => void;
  /** Pins a station, or unpins it with null. It is saved once it rests. */
  readonly set: (node: string, at: Place | null) => void;
}

type Changes = ReadonlyMap<string, Place | null>;

/** A hand that moves something rests for less. */
const SAVE_AFTER_MS = 500;
/** Of as many people who pin at the same moment, one waits for the next change. */
const MAX_TRIES = 4;

/** Pins of a site's map. @param siteId Undefined for the map of several sites: each has places of its own. To be keyed by it. */
export function usePins(siteId: string | undefined): Pins {
  const session = useSession();
  const queries = useQueryClient();
  const mayWrite = useMay("devices:write");
  const queryKey = ["map-pins", siteId];
  const kept = useQuery({ queryKey, enabled: siteId !== undefined, queryFn: () => session.rest.readMapPins(siteId ?? "") });
  const [changes, setChanges] = useState<Changes>(new Map());
  const saving = {
    mutationFn: (made: Changes) => savePins(session, siteId ?? "", made),
    // One save at a time, also of who comes back to the page: an older one would put its places over those of a newer one.
    scope: { id: `map-pins ${siteId}` },
    onSuccess(answer: MapPins, made: Changes) {
      queries.setQueryData(queryKey, answer);
      setChanges((now) => new Map([...now].filter(([node, at]) => made.get(node) !== at)));
    },
  };
  const { mutate, reset, isPending, isError, error } = useMutation(saving);
  useEffect(() => (changes.size === 0 || isPending || isError ? undefined : clock.after(SAVE_AFTER_MS, () => mutate(changes))), [changes, isPending, isError, mutate]);
  useSaveOnLeaving(changes, () => void queries.getMutationCache().build(queries, saving).execute(changes).catch(() => undefined));
  return {
    places: useMemo(() => placesOf(kept.data?.pins ?? [], changes), [kept.data, changes]),
    mayPin: mayWrite && siteId !== undefined && kept.data !== undefined, isLoading: kept.isLoading, error: isError ? error : kept.error,
    retry: () => (isError ? mutate(changes) : void kept.refetch()),
    set: useCallback((node, at) => {
      // While a save runs it is not let go: the next one waits for it.
      if (isError) reset();
      setChanges((now) => new Map(now).set(node, at && { x: Math.round(at.x), y: Math.round(at.y) }));
    }, [isError, reset]),
  };
}

/** Whoever goes to another page at once has moved it all the same. */
function useSaveOnLeaving(changes: Changes, save: () => void): void {
  const last = useRef({ changes, save });
  useEffect(() => {
    last.current = { changes, save };
  });
  useEffect(() => () => {
    if (last.current.changes.size > 0) last.current.save();
  }, []);
}

function placesOf(pins: MapPins["pins"], changes: Changes): ReadonlyMap<string, Place> {
  const places = new Map<string, Place | null>(pins.map(({ node, x, y }) => [node, { x, y }]));
  for (const [node, at] of changes) places.set(node, at);
  return new Map([...places].flatMap(([node, at]) => (at ? [[node, at]] : [])));
}

/** Makes changes to the pins as they are now; those that others make meanwhile are kept. @throws ClientError as the calls. */
async function savePins({ readTagged, ifMatch }: Session, siteId: string, changes: Changes): Promise<MapPins> {
  for (let tries = 1; ; tries += 1) {
    const { record, etag } = await readTagged((rest) => rest.readMapPins(siteId));
    const pins = [...placesOf(record.pins, changes)].map(([node, { x, y }]) => ({ node, x, y }));
    try {
      return await ifMatch(etag).updateMapPins(siteId, { pins });
    } catch (error) {
      if (tries === MAX_TRIES || !(error instanceof ClientError && error.code === "CONFLICT")) throw error;
    }
  }
}
