#!/usr/bin/python3
# usage: tests/foxglove_page.py PORT    of tests/test_foxglove.c
# The page in Chromium: depth under the mouse is the map's value, a slider changes the next frames,
# the surface is drawn. Where PICTURE is set it gets a picture of the page.
# SPDX-License-Identifier: MIT
import os
import sys
import time

try:
    from selenium import webdriver
    from selenium.webdriver import ActionChains
    from selenium.webdriver.chrome.service import Service
except ImportError as missing:
    print(missing)
    sys.exit(77)
DRIVER = "/usr/bin/chromedriver"
if not os.path.exists(DRIVER):
    print("no chromium-driver")
    sys.exit(77)

options = webdriver.ChromeOptions()
for word in ("--headless=new", "--no-sandbox", "--window-size=1400,1000", "--use-gl=angle",
             "--use-angle=swiftshader", "--enable-unsafe-swiftshader"):
    options.add_argument(word)
options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
browser = webdriver.Chrome(service=Service(DRIVER), options=options)


def ask(expression):
    return browser.execute_script(f"return {expression}")


def wait_for(condition):
    end = time.monotonic() + 60
    while not ask(condition):
        assert time.monotonic() < end, condition
        time.sleep(0.05)


try:
    browser.get(f"http://127.0.0.1:{sys.argv[1]}/")
    wait_for("window.livestereo && livestereo.shown.maps > 2 && livestereo.shown.picture")
    canvas = browser.find_element("id", "depth")
    assert (canvas.get_property("width"), canvas.get_property("height")) == (640, 480)

    # What the server's frames hold: (16 + x) / 16 px in column x, nothing in the first row.
    point = ask("livestereo.depthAt(224, 100)")
    assert point["disparity"] == 15 and abs(point["z"] - 500 * 0.1 / 15) < 1e-9, point
    assert 0 < point["error"] < point["z"]
    box = canvas.rect
    scale = min(box["width"] / 640, box["height"] / 480)
    ActionChains(browser).move_to_element_with_offset(
        canvas, round((224.5 - 320) * scale), round((100.5 - 240) * scale)).perform()
    text = browser.find_element("id", "read").text
    assert text.startswith("3.3 \u00b1 ") and text.endswith(" m"), text
    assert ask("isNaN(livestereo.depthAt(5, 0).z)")

    # The legend's colours are the map's.
    far, near = (ask("Array.from(document.getElementById('depth').getContext('2d')"
                     f".getImageData({x}, 200, 1, 1).data)") for x in (0, 630))
    assert far[2] > far[0] and near[0] > near[2], (far, near)

    # Nearest 2 m: 26 px are searched, from 0 on.
    browser.execute_script("""const input = document.getElementById("set_nearest");
        input.value = 26; input.dispatchEvent(new Event("input"));""")
    assert browser.find_element("css selector", "#set_nearest + output").text == "2 m"
    wait_for("livestereo.shown.statistics.disparity_range === 26")

    # Depth is large, every control has a name, and no page is wider than a phone.
    share = """(() => { const c = document.getElementById('depth'), r = c.getBoundingClientRect();
        const s = Math.min(r.width / c.width, r.height / c.height);
        return Math.min(innerWidth, c.width * s) * c.height * s / innerWidth / innerHeight; })()"""
    for width, height, least in ((1280, 800, 0.45), (390, 844, 0.55)):
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 400})
        assert ask(share) >= least, (width, ask(share))
        assert ask("document.documentElement.scrollWidth") <= width
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert ask("""[...document.querySelectorAll('#settings input, #settings select')].every(
        (control) => control.labels.length === 1 && control.labels[0].textContent)""")
    assert browser.find_element("id", "source").text == "a drawn plane"

    # A preset is shown by its name, and as the segment of Quality that it is.
    browser.find_element("xpath", "//button[text()='high']").click()
    wait_for("document.getElementById('set_preset').value === 'best'")
    assert ask("document.querySelector('#set_quality [aria-pressed=true]').textContent") == "high"

    # The surface: of an oblique plane about a third of the view is covered, none of it black.
    browser.find_element("id", "space").click()
    surface = ask("""(() => { const c = document.getElementById("surface");
        const copy = document.createElement("canvas"); copy.width = 64; copy.height = 48;
        const context = copy.getContext("2d"); livestereo.draw();
        context.drawImage(c, 0, 0, 64, 48);
        const data = context.getImageData(0, 0, 64, 48).data; let lit = 0;
        for (let i = 0; i < data.length; i += 4) lit += data[i] + data[i + 1] + data[i + 2] > 30;
        return lit / (64 * 48); })()""")
    assert surface > 0.3, surface

    begin, start = time.monotonic(), ask("livestereo.shown.maps")
    time.sleep(3)
    rate = (ask("livestereo.shown.maps") - start) / (time.monotonic() - begin)
    print(f"# the page shows {rate:.1f} maps of 640x480 a second")
    if "PICTURE" in os.environ:
        browser.save_screenshot(os.environ["PICTURE"])
    problems = [line for line in browser.get_log("browser") if line["level"] == "SEVERE"]
    assert not problems, problems

    # The server goes: no metres, nothing to set, the picture's age. Another one comes, whose
    # baseline is twice as long: the same pixel is twice as far.
    browser.execute_script("setParameter('speckle_size', 77); window.isSame = true")
    wait_for("document.getElementById('state').textContent.includes('picture of 3 s ago')")
    assert browser.find_element("id", "state").text.startswith("not connected")
    assert ask("document.getElementById('read').textContent") == ""
    assert not browser.find_element("id", "set_nearest").is_enabled()
    wait_for("livestereo.shown.maps > 2 && document.getElementById('state').textContent == 'live'")
    text = browser.find_element("id", "read").text
    assert text.startswith("6.7 \u00b1 ") and text.endswith(" m"), text
    assert browser.find_element("id", "set_nearest").is_enabled() and ask("window.isSame")
finally:
    browser.quit()
