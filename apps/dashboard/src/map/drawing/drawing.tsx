import { getRouteApi } from "@tanstack/react-router";
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { Button } from "../../parts/button.tsx";
import { showForeign } from "../../texts/foreign.tsx";
import { formatAgo, formatMoment, useNow } from "../../texts/moment.tsx";
import { useZone } from "../../texts/zone.tsx";
import styles from "./drawing.module.css";
import { BOX, heightOf, LABEL, type Layout, type Place } from "../placing/layout.ts";
import type { Cable, Picture, Station } from "../picture.ts";
import type { Pins } from "../pins/use-pins.ts";
import { foldText, kindOf, STATE_TEXTS } from "../station-texts.ts";
import { useDrag } from "./use-drag.ts";

const route = getRouteApi("/map");
/** Smaller, and names cannot be read. */
const MIN_FIT = 0.6;
const STEP = 1.25;
/** A drawing pin, 12 wide and 15 high. */
const PIN = "M2 0h8v2L9 3v3l2 2v2H1V8l2-2V3L2 2zM5.500 10h1v5h-1z";
const LONGEST = { name: 20, line: 28, port: 18 };

/** The stations and the cables between them. Boxes are buttons in the order of their names; choosing one moves nothing, dragging one pins it. */
export function Drawing({ picture, layout, pins }: { readonly picture: Picture; readonly layout: Layout; readonly pins: Pins }) {
  const frame = useRef<HTMLDivElement>(null);
  const [zoom, setZoom] = useState(1);
  const fit = useFit(frame, layout);
  const scale = fit * zoom;
  return (
    <div className={styles["outside"]}>
      <div ref={frame} className={styles["frame"]} tabIndex={0} role="group" aria-label="Map of the links">
        <svg className={styles["map"]} viewBox={`0 0 ${layout.width} ${layout.height}`} width={layout.width * scale} height={layout.height * scale}>
          {picture.cables.map((cable) => <CableLine key={cable.edge.id} cable={cable} line={layout.lines[cable.edge.id]} />)}
          {picture.stations.map((station) => <StationBox key={station.node.id} station={station} at={layout.boxes[station.node.id]} scale={scale} pins={pins} />)}
        </svg>
      </div>
      <div className={styles["zoom"]}>
        <Button onClick={() => setZoom(zoom / STEP)} aria-label="Smaller">−</Button>
        <Button onClick={() => setZoom(1)}>Fit</Button>
        <Button onClick={() => setZoom(zoom * STEP)} aria-label="Larger">+</Button>
      </div>
    </div>
  );
}

/** @returns How large the whole is drawn so that it fits, as long as it can be read. */
function useFit(frame: React.RefObject<HTMLDivElement | null>, layout: Layout): number {
  const [fit, setFit] = useState(1);
  useEffect(() => {
    const element = frame.current;
    if (!element) return undefined;
    const measure = () => {
      const whole = Math.min(1, element.clientWidth / layout.width, Math.max(element.clientHeight, 320) / layout.height);
      setFit(Math.max(MIN_FIT, whole));
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [frame, layout]);
  return fit;
}

function CableLine({ cable: { edge, upperPort, lowerPort }, line }: { readonly cable: Cable; readonly line: Layout["lines"][string] | undefined }) {
  const now = useNow();
  const zone = useZone();
  if (!line) return null;
  const { x, y } = line.label;
  const top = y - LABEL.height / 2;
  return (
    <g className={styles["cable"]} data-state={edge.state}>
      <title>{`${edge.protocols.join(", ").toUpperCase()}, ${STATE_TEXTS[edge.state]}, last seen ${formatMoment(edge.last_seen, zone)}`}</title>
      <path d={pathThrough(line.points)} />
      <rect x={x - LABEL.width / 2} y={top} width={LABEL.width} height={LABEL.height} />
      <text x={x} y={top + 14} className={styles["port"]}>{showForeign(upperPort, LONGEST.port) || "port unknown"}</text>
      <text x={x} y={top + 30} className={styles["by"]}>{`${edge.protocols.join(", ").toUpperCase()} · ${formatAgo(edge.last_seen, now)}`}</text>
      <text x={x} y={top + 46} className={styles["port"]}>{showForeign(lowerPort, LONGEST.port) || "port unknown"}</text>
    </g>
  );
}

function StationBox({ station, at, scale, pins }: { readonly station: Station; readonly at: Place | undefined; readonly scale: number; readonly pins: Pins }) {
  const { focus } = route.useSearch();
  const navigate = route.useNavigate();
  const { node, folds, isSwitch } = station;
  const { wasDragged, ...drag } = useDrag({ at, scale, onMove: pins.mayPin ? (place) => pins.set(node.id, place) : null });
  if (!at) return null;
  const isPinned = pins.places.has(node.id);
  const isChosen = focus === node.id;
  const choose = () => void navigate({ search: (before) => ({ ...before, focus: isChosen ? undefined : node.id }), replace: true });
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    choose();
  };
  const height = heightOf(station);
  const name = showForeign(node.name, LONGEST.name) || "unnamed";
  const kind = showForeign([kindOf(node, isSwitch), node.ip].filter(Boolean).join(" · "), LONGEST.line);
  return (
    <g
      className={styles["station"]} data-kind={node.kind} data-presence={node.presence_state} data-draggable={pins.mayPin} transform={`translate(${at.x - BOX.width / 2} ${at.y - height / 2})`}
      role="button" tabIndex={0} aria-pressed={isChosen} onClick={() => !wasDragged() && choose()} onKeyDown={onKeyDown} {...drag}
    >
      <title>{[showForeign(node.name), kind, ...folds.map(foldText), ...(isPinned ? ["pinned"] : [])].join(", ")}</title>
      <rect className={styles["box"]} width={BOX.width} height={height} rx="8" />
      <circle cx="17" cy="20" r="4.500" />
      {isPinned && <path className={styles["pin"]} d={PIN} transform={`translate(${BOX.width - 18} 6)`} />}
      {/* Whatever the letters are as wide as: an inner picture ends at its edge. */}
      <svg x="30" width={BOX.width - (isPinned ? 50 : 38)} height={BOX.head}>
        <text y="24" className={styles["name"]}>{name}</text>
        <text y="41" className={styles["kind"]}>{kind}</text>
      </svg>
      {folds.map((fold, index) => (
        <g key={fold.port} transform={`translate(8 ${BOX.head + index * BOX.fold})`}>
          <rect className={styles["fold"]} width={BOX.width - 16} height={BOX.fold - 4} rx="4" />
          <svg width={BOX.width - 16} height={BOX.fold - 4}><text x="8" y="14.500">{foldText(fold)}</text></svg>
        </g>
      ))}
    </g>
  );
}

/** A curve through the points, which goes straight down at each of them. */
function pathThrough(points: readonly Place[]): string {
  return points.map(({ x, y }, index) => {
    const before = points[index - 1];
    if (!before) return `M${x} ${y}`;
    const half = (before.y + y) / 2;
    return `C${before.x} ${half} ${x} ${half} ${x} ${y}`;
  }).join("");
}
