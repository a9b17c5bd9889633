# SPDX-License-Identifier: Apache-2.0
"""The page of halyard serve in a real browser: Chromium without a window, driven by playwright."""
import os
import pathlib
import shutil
import socket
import unittest

from program import CLIP, needs_engine, needs_video
from serving import ServingTest

try:
    from playwright.sync_api import sync_playwright
except ImportError:
    sync_playwright = None
CHROMIUM = shutil.which("chromium")
TOKEN = "0123456789abcdef0123"
SHOTS = pathlib.Path(os.environ["HALYARD_BUILD_DIR"]) / "screenshots"
CHECKS = pathlib.Path(__file__).with_name("serve_page_checks.js").read_text()
# The pixels of the live image, small.
PIXELS = """() => {
  const canvas = document.createElement("canvas");
  canvas.width = 64; canvas.height = 36;
  const pen = canvas.getContext("2d");
  pen.drawImage(document.getElementById("image"), 0, 0, 64, 36);
  return pen.getImageData(0, 0, 64, 36).data.join();
}"""


VIDEO_PIXELS = PIXELS.replace('"image"', '"video"')


@unittest.skipUnless(sync_playwright and CHROMIUM,
                     "no browser: scripts/install-deps.sh browser")
@needs_engine
class PageTest(ServingTest):
    @classmethod
    def setUpClass(cls):
        cls.playwright = sync_playwright().start()
        cls.addClassCleanup(cls.playwright.stop)
        cls.browser = cls.playwright.chromium.launch(
            executable_path=CHROMIUM,
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"])
        cls.addClassCleanup(cls.browser.close)
        SHOTS.mkdir(exist_ok=True)

    def open(self, path="/", width=1360, height=900, scheme="light"):
        """The page, which must not complain on the console."""
        context = self.browser.new_context(color_scheme=scheme, accept_downloads=True,
                                           viewport={"width": width, "height": height})
        context.set_default_timeout(30_000)
        page = context.new_page()
        self.complaints = []
        page.on("console", lambda message: self.complaints.append(message.text)
                if message.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.addCleanup(context.close)
        page.goto(f"http://127.0.0.1:{self.port}{path}")
        return page

    def wait_for(self, page, condition):
        """As page.wait_for_function(), which the page's Content-Security-Policy refuses."""
        self.wait_until(lambda: page.evaluate(condition))

    def wait_for_image(self, page):
        page.wait_for_selector("#image", state="attached")
        self.wait_for(page, "document.getElementById('image').naturalWidth === 640")
        page.wait_for_selector(".pill.running")

    def check(self, page):
        self.assertEqual(page.evaluate(CHECKS), [])
        self.assertEqual(self.complaints, [])

    def test_frames_move_and_numbers_come(self):
        self.serve(CLIP, "--track")
        page = self.open()
        self.wait_for_image(page)
        first = page.evaluate(PIXELS)
        self.wait_until(lambda: page.evaluate(PIXELS) != first)
        self.wait_for(page, "document.querySelectorAll('#stages tr').length === 6")
        self.wait_for(page, "document.querySelectorAll('#objects li').length > 1")
        self.wait_for(page, "parseFloat(document.getElementById('rate').textContent) > 1")
        self.assertTrue(page.evaluate("""() => {
          const canvas = document.getElementById("timeline");
          return canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height)
            .data.some((value) => value !== 0);
        }"""))
        self.assertEqual(self.complaints, [])

    def test_without_a_model_there_is_the_image_alone(self):
        self.serve(CLIP, model=None)
        self.wait_for_frames()
        page = self.open()
        page.wait_for_function("document.getElementById('rate').textContent > 0")
        first = page.evaluate(PIXELS)
        page.wait_for_function(f"({PIXELS})() !== '{first}'")
        for part in "controls", "objects-card", "model-card":
            self.assertTrue(page.locator(f"#{part}").is_hidden(), part)
        page.screenshot(path=SHOTS / "no-model.png")
        self.assertEqual(self.complaints, [])

    def test_a_keyboard_is_enough(self):
        self.serve(CLIP, "--track")
        page = self.open()
        self.wait_for_image(page)
        reached = set()
        for _ in range(20):
            page.keyboard.press("Tab")
            reached.add(page.evaluate(
                "document.activeElement.id || document.activeElement.tagName"))
        self.assertLessEqual({"pause", "snapshot", "score", "iou", "boxes", "tracks", "SUMMARY"},
                             reached)
        page.focus("#score")
        for _ in range(5):
            page.keyboard.press("ArrowRight")
        self.wait_for(
            page, "document.getElementById('message').textContent === 'Score threshold is 0.30'")
        self.assertAlmostEqual(self.get("/api/controls")[1]["score"], 0.3)
        page.focus("#iou")
        page.keyboard.press("Home")
        self.wait_until(lambda: self.get("/api/controls")[1]["iou"] == 0)
        page.focus("#boxes")
        page.keyboard.press("Space")
        self.wait_until(lambda: self.get("/api/controls")[1]["boxes"] is False)
        page.focus("#pause")
        page.keyboard.press("Enter")
        page.wait_for_selector(".pill.paused")
        self.assertEqual(page.get_attribute("#pause", "aria-pressed"), "true")
        self.assertEqual(page.text_content("#message"), "Paused")
        page.keyboard.press("Enter")
        page.wait_for_selector(".pill.running")
        self.assertEqual(self.complaints, [])

    @needs_video
    def test_the_video_moves_close_to_its_newest_frame(self):
        self.serve(CLIP, "--track")
        if not self.get("/api/state")[1]["video"]["available"]:
            self.skipTest(self.get("/api/state")[1]["video"]["error"])
        page = self.open()
        self.wait_for_image(page)
        page.wait_for_selector("#stream-label:visible")
        page.select_option("#stream", "video")
        self.wait_for(page, "document.getElementById('video').videoWidth === 640")
        self.assertEqual(page.text_content("#message"), "The stream is H.264")
        self.assertFalse(page.is_visible("#image"))
        self.assertFalse(page.is_visible("#no-image"))
        shown = page.evaluate("document.getElementById('video').currentTime")
        self.wait_for(page, f"document.getElementById('video').currentTime > {shown} + 2")
        self.assertLess(page.evaluate("""() => {
          const video = document.getElementById("video");
          return video.buffered.end(video.buffered.length - 1) - video.currentTime;
        }"""), 1.5)
        first = page.evaluate(VIDEO_PIXELS)
        self.wait_until(lambda: page.evaluate(VIDEO_PIXELS) != first)
        self.assertEqual(self.get("/api/state")[1]["viewers"]["video"], 1)
        self.assertEqual(self.get("/api/state")[1]["viewers"]["images"], 0)
        page.screenshot(path=SHOTS / "video.png")
        self.check(page)
        page.select_option("#stream", "images")
        self.wait_for_image(page)
        self.wait_until(lambda: self.get("/api/state")[1]["viewers"]["video"] == 0)
        self.assertEqual(self.complaints, [])

    @needs_video
    def test_a_paused_video_shows_the_last_image(self):
        self.serve(CLIP)
        if not self.get("/api/state")[1]["video"]["available"]:
            self.skipTest(self.get("/api/state")[1]["video"]["error"])
        page = self.open()
        self.wait_for_image(page)
        page.click("#pause")
        page.wait_for_selector(".pill.paused")
        page.select_option("#stream", "video")
        self.wait_for(page, "document.getElementById('video').poster.endsWith('/api/snapshot')")
        page.click("#pause")
        self.wait_for(page, "document.getElementById('video').videoWidth === 640")
        self.assertEqual(self.complaints, [])

    def test_thresholds_change_the_image(self):
        self.serve(CLIP)
        page = self.open()
        self.wait_for_image(page)
        self.wait_for(page, "document.querySelector('#objects b').textContent !== ''")
        page.fill("#score", "1")
        self.wait_for(
            page, "document.getElementById('objects').textContent.startsWith('Nothing found')")

    @needs_video
    def test_images_and_videos_are_kept(self):
        self.serve(CLIP, "--record-to", self.dir / "videos")
        page = self.open()
        self.wait_for_image(page)
        with page.expect_download() as download:
            page.click("#snapshot")
        self.assertEqual(pathlib.Path(download.value.path()).read_bytes()[:2], b"\xff\xd8")
        page.click("#record")
        page.wait_for_selector("#record[aria-pressed=true]")
        self.wait_until(lambda: self.get("/api/state")[1]["recording"]["frames"] >= 3)
        page.click("#record")
        self.wait_until(lambda: len(list((self.dir / "videos").glob("*.mp4"))) == 1)
        self.assertEqual(self.complaints, [])

    def test_the_token_opens_the_page(self):
        self.serve(CLIP, "--token", TOKEN)
        page = self.open()
        self.assertTrue(page.url.endswith("/login"), page.url)
        self.check(page)
        page.fill("#token", "wrong-wrong-wrong")
        page.keyboard.press("Enter")
        page.wait_for_selector("text=This is not the token.")
        self.assertEqual([each for each in self.complaints if "401" not in each], [])
        self.complaints.clear()
        page.fill("#token", TOKEN)
        page.keyboard.press("Enter")
        self.wait_for_image(page)
        self.assertNotIn(TOKEN, page.url)
        self.assertEqual(page.evaluate("document.cookie"), "")
        page.screenshot(path=SHOTS / "token.png")
        page.click("text=Log out")
        page.wait_for_url("**/login")
        self.assertEqual(self.complaints, [])

    def test_fifty_viewers_watch(self):
        self.serve(CLIP)
        for _ in range(49):
            viewer = socket.create_connection(("127.0.0.1", self.port), timeout=30)
            self.addCleanup(viewer.close)
            viewer.sendall(b"GET /stream.mjpg HTTP/1.1\r\nHost: localhost\r\n\r\n")
        page = self.open()
        self.wait_for_image(page)
        self.wait_for(page, "document.getElementById('viewers').textContent === '50'")
        late = self.get("/stream.mjpg")
        self.assertEqual(late[0], 503)
        before = self.get("/api/state")[1]["frames"]["passed"]
        self.wait_for_frames(before + 10)
        self.assertEqual(self.complaints, [])

    def test_everybody_can_use_it(self):
        self.serve(CLIP, "--track")
        for name, width, height, scheme in (("light", 1360, 900, "light"),
                                            ("dark", 1360, 900, "dark"),
                                            ("phone", 390, 844, "dark"),
                                            ("narrow", 320, 640, "light")):
            with self.subTest(name):
                page = self.open("/", width, height, scheme)
                self.wait_for_image(page)
                self.wait_for(page, "document.querySelectorAll('#stages tr').length === 6")
                self.wait_for(page, "document.querySelectorAll('#model dd').length > 5")
                page.screenshot(path=SHOTS / f"{name}.png", full_page=True)
                for summary in page.query_selector_all("details > summary:visible"):
                    summary.click()
                self.wait_for(page, "document.querySelectorAll('#topics tr').length > 0")
                self.check(page)
                page.close()


if __name__ == "__main__":
    unittest.main()
