// The picture of docs/editors.md: a lot whose work doesn't fit, what comes up over it, and the computed times.
// node picture.mjs ADDRESS FOLDER BROWSER PICTURE
import { sit } from "./drive.mjs";

const [address, folder, browser, picture] = process.argv.slice(2);
const seat = await sit(address, folder, "schedule.campaign", browser, { width: 1280, height: 740 });
const { page } = seat;
await page.keyboard.press("Control+B");
await seat.go(44);
await seat.until("hints", async () => (await seat.lines()).join("\n").includes("→"));
await page.evaluate(() => document.fonts.ready);
await seat.hover("lot", "over");
await page.waitForTimeout(500);
await page.screenshot({ path: picture });
process.stdout.write(JSON.stringify(await seat.lines()));
await seat.close();
