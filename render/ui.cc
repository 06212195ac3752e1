/*
 * render/ui.h with Dear ImGui (1.86). The only file that knows it. SPDX-License-Identifier: MIT
 */
#include "render/ui.h"

#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#define PLACES 1024
#define TEXT_PX 14.0f

struct ui {
    double scale;
    ImDrawList *list;
    int count;
    struct ui_place places[PLACES];
};

static ImU32 color_of(unsigned rgb, double alpha = 1) {
    return IM_COL32(rgb >> 16 & 255, rgb >> 8 & 255, rgb & 255, (int)(alpha * 255 + 0.5));
}

/* Notes where the widget just made is; one that is scrolled out of sight is nowhere. */
static void keep_place(struct ui *ui, const char *name, const char *part = "") {
    if (ui->count == PLACES || !ImGui::IsItemVisible())
        return;
    struct ui_place *place = &ui->places[ui->count++];
    ImVec2 least = ImGui::GetItemRectMin(), most = ImGui::GetItemRectMax();
    snprintf(place->name, sizeof place->name, "%s%s", name, part);
    place->x = least.x;
    place->y = least.y;
    place->width = most.x - least.x;
    place->height = most.y - least.y;
}

static void tooltip(struct ui *ui, const char *help) {
    if (!help || !*help || !ImGui::IsItemHovered())
        return;
    ImGui::BeginTooltip();
    ImGui::PushTextWrapPos((float)(320 * ui->scale));
    ImGui::TextUnformatted(help);
    ImGui::PopTextWrapPos();
    ImGui::EndTooltip();
}

struct ui *ui_open(void *glfw, double scale, const char *font) {
    struct ui *ui = (struct ui *)calloc(1, sizeof *ui);
    if (!ui)
        return NULL;
    ui->scale = scale;
    ImGui::CreateContext();
    ImGuiIO &io = ImGui::GetIO();
    io.IniFilename = NULL; /* it would write into the folder one happens to be in */
    io.ConfigWindowsMoveFromTitleBarOnly = true;
    ImGui::StyleColorsDark();
    ImGuiStyle &style = ImGui::GetStyle();
    style.WindowRounding = 3;
    style.FrameRounding = 2;
    style.ItemSpacing = ImVec2(6, 4);
    style.Colors[ImGuiCol_WindowBg].w = 0.97f;
    style.ScaleAllSizes((float)scale);
    if (font)
        io.Fonts->AddFontFromFileTTF(font, (float)std::round(TEXT_PX * scale));
    else
        io.FontGlobalScale = (float)scale;
    ImGui_ImplGlfw_InitForOpenGL((GLFWwindow *)glfw, true);
    ImGui_ImplOpenGL3_Init("#version 330 core");
    return ui;
}

void ui_close(struct ui **ui) {
    if (!*ui)
        return;
    ImGui_ImplOpenGL3_Shutdown();
    ImGui_ImplGlfw_Shutdown();
    ImGui::DestroyContext();
    free(*ui);
    *ui = NULL;
}

void ui_begin(struct ui *ui) {
    ui->count = 0;
    ImGui_ImplOpenGL3_NewFrame();
    ImGui_ImplGlfw_NewFrame();
    ImGui::NewFrame();
    ui->list = ImGui::GetBackgroundDrawList();
}

void ui_end(struct ui *ui) {
    (void)ui;
    ImGui::Render();
    ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

bool ui_has_mouse(struct ui *ui) {
    (void)ui;
    return ImGui::GetIO().WantCaptureMouse;
}

bool ui_has_keys(struct ui *ui) {
    (void)ui;
    return ImGui::GetIO().WantTextInput;
}

bool ui_is_active(struct ui *ui) {
    (void)ui;
    return ImGui::IsAnyItemActive();
}

void ui_panel_begin(struct ui *ui, const char *name, double x, double y, double width,
                    double height, int flags) {
    int f = ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
            ImGuiWindowFlags_NoCollapse | ImGuiWindowFlags_NoNav;
    if (!(flags & UI_TITLE))
        f |= ImGuiWindowFlags_NoTitleBar;
    if (flags & UI_BARE)
        f |= ImGuiWindowFlags_NoBackground;
    if (!(flags & UI_IN_FRONT))
        f |= ImGuiWindowFlags_NoBringToFrontOnFocus;
    if (flags & UI_FIT)
        f |= ImGuiWindowFlags_AlwaysAutoResize;
    if (!(flags & UI_SCROLL))
        f |= ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse;
    ImGui::SetNextWindowPos(ImVec2((float)x, (float)y));
    if (!(flags & UI_FIT))
        ImGui::SetNextWindowSize(ImVec2((float)width, (float)height));
    if (flags & UI_SEE_THROUGH)
        ImGui::SetNextWindowBgAlpha(0.75f);
    ImGui::Begin(name, NULL, f);
    ui->list = ImGui::GetWindowDrawList();
    if (ui->count < PLACES) {
        struct ui_place *place = &ui->places[ui->count++];
        snprintf(place->name, sizeof place->name, "panel.%s", name);
        place->x = ImGui::GetWindowPos().x;
        place->y = ImGui::GetWindowPos().y;
        place->width = ImGui::GetWindowSize().x;
        place->height = ImGui::GetWindowSize().y;
    }
}

void ui_panel_end(struct ui *ui) {
    ImGui::End();
    ui->list = ImGui::GetBackgroundDrawList();
}

bool ui_group(struct ui *ui, const char *name, bool open) {
    bool shown = ImGui::CollapsingHeader(name, open ? ImGuiTreeNodeFlags_DefaultOpen : 0);
    keep_place(ui, "group.", name);
    return shown;
}

void ui_same_line(struct ui *ui) {
    (void)ui;
    ImGui::SameLine();
}

void ui_text(struct ui *ui, const char *text) {
    (void)ui;
    ImGui::TextUnformatted(text);
}

void ui_text_color(struct ui *ui, unsigned rgb, const char *text) {
    (void)ui;
    ImGui::PushStyleColor(ImGuiCol_Text, color_of(rgb));
    ImGui::PushTextWrapPos(0);
    ImGui::TextUnformatted(text);
    ImGui::PopTextWrapPos();
    ImGui::PopStyleColor();
}

void ui_line_apart(struct ui *ui) {
    (void)ui;
    ImGui::Separator();
}

bool ui_button(struct ui *ui, const char *name, const char *text, const char *help) {
    ImGui::PushID(name);
    bool pressed = ImGui::Button(text);
    keep_place(ui, name);
    tooltip(ui, help);
    ImGui::PopID();
    return pressed;
}

bool ui_check(struct ui *ui, const char *name, const char *text, const char *help, bool *value) {
    ImGui::PushID(name);
    bool changed = ImGui::Checkbox(text, value);
    keep_place(ui, name);
    tooltip(ui, help);
    ImGui::PopID();
    return changed;
}

/* A small button of a slider's row. */
static bool row_button(struct ui *ui, const char *name, const char *part, const char *text,
                       const char *help) {
    ImGui::SameLine(0, ImGui::GetStyle().ItemInnerSpacing.x);
    float side = ImGui::GetFrameHeight();
    bool pressed = ImGui::Button(text, ImVec2(side, side));
    keep_place(ui, name, part);
    tooltip(ui, help);
    return pressed;
}

static float slider_width() {
    return ImGui::GetContentRegionAvail().x * 0.36f;
}

static void row_label(struct ui *ui, const char *text, const char *help, bool changed) {
    ImGui::SameLine(0, ImGui::GetStyle().ItemInnerSpacing.x);
    ImGui::AlignTextToFramePadding();
    if (changed)
        ImGui::PushStyleColor(ImGuiCol_Text, color_of(0xffd080));
    ImGui::TextUnformatted(text);
    if (changed)
        ImGui::PopStyleColor();
    tooltip(ui, help);
}

static bool number_slider(struct ui *ui, const struct ui_knob *n, double *value) {
    ImGui::SetNextItemWidth(slider_width());
    bool changed;
    if (n->whole) {
        int v = (int)*value, least = (int)n->least, most = (int)n->most;
        changed = ImGui::SliderInt("##slider", &v, least, most, "%d", ImGuiSliderFlags_AlwaysClamp);
        if (changed)
            *value = v;
    } else {
        int digits = n->step < 0.01 ? 3 : n->step < 0.1 ? 2 : 1;
        char format[8];
        snprintf(format, sizeof format, "%%.%df", digits);
        double v = *value;
        changed = ImGui::SliderScalar("##slider", ImGuiDataType_Double, &v, &n->least, &n->most,
                                      format, ImGuiSliderFlags_AlwaysClamp);
        if (changed)
            *value = v;
    }
    keep_place(ui, n->name);
    tooltip(ui, n->help);
    return changed;
}

bool ui_number(struct ui *ui, const struct ui_knob *n, double *value) {
    double before = *value;
    ImGui::PushID(n->name);
    if (n->fixed)
        ImGui::BeginDisabled();
    number_slider(ui, n, value);
    if (row_button(ui, n->name, ".less", "-", "one step less"))
        *value -= n->step;
    if (row_button(ui, n->name, ".more", "+", "one step more"))
        *value += n->step;
    char back[64];
    snprintf(back, sizeof back, "back to the default, %.9g", n->def);
    if (row_button(ui, n->name, ".reset", "R", back))
        *value = n->def;
    if (n->fixed)
        ImGui::EndDisabled();
    row_label(ui, n->text, n->help, *value != n->def);
    ImGui::PopID();
    *value = *value < n->least ? n->least : *value > n->most ? n->most : *value;
    return *value != before;
}

bool ui_choice(struct ui *ui, const char *name, const char *text, const char *help,
               const char *choices, int def, bool fixed, int *value) {
    std::string list = choices; /* each choice ends with a zero, the list with another */
    int count = 1 + (int)std::count(list.begin(), list.end(), '|');
    std::replace(list.begin(), list.end(), '|', '\0');
    list.push_back('\0');
    int before = *value;
    ImGui::PushID(name);
    if (fixed)
        ImGui::BeginDisabled();
    ImGui::SetNextItemWidth(slider_width());
    ImGui::Combo("##choice", value, list.c_str());
    keep_place(ui, name);
    tooltip(ui, help);
    if (row_button(ui, name, ".less", "-", "the choice before"))
        *value = (*value + count - 1) % count;
    if (row_button(ui, name, ".more", "+", "the next choice"))
        *value = (*value + 1) % count;
    if (row_button(ui, name, ".reset", "R", "back to the default"))
        *value = def;
    if (fixed)
        ImGui::EndDisabled();
    row_label(ui, text, help, *value != def);
    ImGui::PopID();
    return *value != before;
}

bool ui_seek(struct ui *ui, const char *name, const char *help, double least, double most,
             const char *text, double *value) {
    ImGui::PushID(name);
    ImGui::SetNextItemWidth(-1);
    bool changed = ImGui::SliderScalar("##seek", ImGuiDataType_Double, value, &least, &most, text,
                                       ImGuiSliderFlags_AlwaysClamp | ImGuiSliderFlags_NoInput);
    keep_place(ui, name);
    if (!ImGui::IsItemActive()) /* while it is dragged the help would lie on the picture */
        tooltip(ui, help);
    ImGui::PopID();
    return changed;
}

bool ui_entry(struct ui *ui, const char *name, const char *hint, char *text, int size) {
    ImGui::PushID(name);
    ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x * 0.5f);
    bool entered = ImGui::InputTextWithHint("##entry", hint, text, (size_t)size,
                                            ImGuiInputTextFlags_EnterReturnsTrue |
                                                ImGuiInputTextFlags_AutoSelectAll);
    keep_place(ui, name);
    ImGui::PopID();
    return entered;
}

void ui_room(struct ui *ui, const char *name, double width, double height, double *x, double *y) {
    ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::Dummy(ImVec2((float)width, (float)height));
    keep_place(ui, name);
    *x = at.x;
    *y = at.y;
}

void ui_box(struct ui *ui, double x, double y, double width, double height, unsigned rgb,
            double alpha) {
    ui->list->AddRectFilled(ImVec2((float)x, (float)y),
                            ImVec2((float)(x + width), (float)(y + height)), color_of(rgb, alpha));
}

void ui_frame(struct ui *ui, double x, double y, double width, double height, unsigned rgb) {
    ui->list->AddRect(ImVec2((float)x, (float)y), ImVec2((float)(x + width), (float)(y + height)),
                      color_of(rgb));
}

void ui_line(struct ui *ui, double x0, double y0, double x1, double y1, unsigned rgb) {
    ui->list->AddLine(ImVec2((float)x0, (float)y0), ImVec2((float)x1, (float)y1), color_of(rgb),
                      (float)ui->scale);
}

void ui_lines(struct ui *ui, const float *xy, int count, unsigned rgb) {
    static_assert(sizeof(ImVec2) == 2 * sizeof(float), "points are pairs of floats");
    ui->list->AddPolyline((const ImVec2 *)xy, count, color_of(rgb), 0, (float)ui->scale);
}

void ui_label(struct ui *ui, double x, double y, unsigned rgb, const char *text) {
    ui->list->AddText(ImVec2((float)x + 1, (float)y + 1), color_of(0), text);
    ui->list->AddText(ImVec2((float)x, (float)y), color_of(rgb), text);
}

double ui_text_width(struct ui *ui, const char *text) {
    (void)ui;
    return ImGui::CalcTextSize(text).x;
}

double ui_text_height(struct ui *ui) {
    (void)ui;
    return ImGui::GetTextLineHeight();
}

const struct ui_place *ui_places(const struct ui *ui, int *count) {
    *count = ui->count;
    return ui->places;
}
